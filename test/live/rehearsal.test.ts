import { afterEach, expect, test } from "vitest";
import { RehearsalStage } from "../../packages/cli/src/rehearse/rehearsal-stage.testbed.ts";
import { runCli } from "./cli-process.testbed.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Slower than a real fleet, so that a busy machine's late timers are small beside its times. `bench/rehearsal.mjs` compares the values. */
function openStage(): RehearsalStage {
  const stage = new RehearsalStage(4, 7);
  cleanups.push(() => stage.close());
  return stage;
}

test("the order in which a rehearsal puts three policy files by their p99 is the proxy's order on real sockets", async () => {
  const stage = openStage();
  const fleet = await stage.startFleet(1);
  cleanups.push(() => fleet.stop());
  const files = stage.writePolicies(fleet.urls);
  const rows = await stage.rehearse(files, stage.writeTrace(1001), { runs: 3, seed: 1 });
  const predicted = rows.map((row) => ({ file: row.name, p99Ms: row.latencyMs.p99?.mean ?? 0 }));
  const found: typeof predicted = [];
  for (const file of files) {
    const { measured } = await stage.measure(file, fleet, { seed: 1 });
    found.push({ file, p99Ms: measured.completed.quantile(0.99) / 1000 });
  }

  const worstFirst = (p99s: typeof predicted) =>
    [...p99s].sort((a, b) => b.p99Ms - a.p99Ms).map(({ file }) => file);
  expect(worstFirst(predicted), JSON.stringify(predicted)).toEqual(files);
  expect(worstFirst(found), JSON.stringify(found)).toEqual(files);
}, 180_000);

test("`bobtail sim --policy --trace` prints each policy, the change against the first, and the same as JSON", async () => {
  const stage = openStage();
  const urls = Array.from({ length: 10 }, (_, i) => `http://127.0.0.1:${10_001 + i}`);
  const [first = "", , hedged = ""] = stage.writePolicies(urls);
  const traceFile = stage.writeTrace(1001);
  const args = ["--policy", first, hedged, "--trace", traceFile, "--workers-per-server", "4"];
  const rehearse = (...more: readonly string[]) =>
    runCli("sim", ...args, "--slow", "0=5", "--queue-timeout", "4s", "--runs", "2", ...more);
  const text = await rehearse();
  expect(text.exitCode, text.stderr).toBe(0);
  expect(text.stdout).toContain(`against ${first}`);
  const json = await rehearse("--json");
  expect(JSON.parse(json.stdout)).toMatchObject({
    schema: "bobtail.rehearse/1",
    stage: { workers: 4, queue_timeout_ms: 4000, runs: 2, copies: "same-size" },
    policies: [
      { file: first, servers: 10 },
      { file: hedged, change_ratio: { p99: {} } },
    ],
  });
  expect((await rehearse("--seed", "1", "--json")).stdout).toBe(json.stdout);
});

test.each([
  [["--policy", "nowhere.yaml", "--trace", "t.csv"], /nowhere\.yaml cannot be used/],
  [["--policy", "nowhere.yaml"], /--policy needs --trace/],
  [["slow-backend", "--slow", "0=5"], /--slow: this belongs to a rehearsal/],
  [["--policy", "a.yaml", "--trace", "t.csv", "--unit", "weeks"], /--unit/],
])("`bobtail sim %j` ends with 2 and says why", async (args, why) => {
  const { exitCode, stderr } = await runCli("sim", ...args);
  expect([exitCode, stderr]).toEqual([2, expect.stringMatching(why)]);
});
