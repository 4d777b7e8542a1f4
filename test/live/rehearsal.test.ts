import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { seededRng } from "../../packages/bobtail/src/engine.ts";
import { type Fleet, startFleet } from "../../packages/cli/src/fleet/fleet.ts";
import { capacityPerSec } from "../../packages/cli/src/fleet/fleet-options.ts";
import { drawServiceMs } from "../../packages/cli/src/fleet/service-law.ts";
import { startLoad } from "../../packages/cli/src/load/load.ts";
import { loadPolicy } from "../../packages/cli/src/policy-file/load-policy.ts";
import { startProxy } from "../../packages/cli/src/proxy/start-proxy.ts";
import { readCandidates } from "../../packages/cli/src/rehearse/candidates.ts";
import { readTrace } from "../../packages/cli/src/rehearse/read-trace.ts";
import { rehearseAll } from "../../packages/cli/src/rehearse/rehearsal.ts";
import { createPalette } from "../../packages/cli/src/terminal/palette.ts";
import { runCli } from "./cli-process.testbed.ts";

/** Slower than a real fleet, so that a busy machine's late timers are small beside its times. `bench/rehearsal.mjs` compares the values. */
const FACTOR = 4;
const SECONDS = 7;
const WARM_UP_RATIO = 0.2;
const QUEUE_LIMIT_MS = 1000 * FACTOR;
const MEAN_MS = 10 * FACTOR;
const BACKENDS = Array.from({ length: 10 }, (_, i) => ({
  workers: 4,
  law: { meanMs: MEAN_MS, slowFactor: i === 0 ? 5 : 1 },
}));
const RATE = 0.7 * capacityPerSec(BACKENDS);

/** The worst first. */
const POLICIES = {
  "round-robin": `
    balance: { policy: round-robin, errorPenalty: false }
    retry: { max: 0 }
    limit: { outstanding: 16384, perEndpoint: 8192 }`,
  "two-choices": `
    balance: { load: outstanding }
    retry: { max: 0 }`,
  hedged: `
    balance: { policy: least }
    hedge: auto
    budget: { extra: 5% }`,
};

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A day's trace: the work of each request, and when it came. */
function trace(seed: number): string {
  const rng = seededRng(seed);
  let text = "at_ms,service_ms\n";
  for (let atMs = 0; atMs < SECONDS * 1000; ) {
    atMs += (-1000 / RATE) * Math.log(1 - rng.next());
    text += `${atMs.toFixed(3)},${drawServiceMs({ meanMs: MEAN_MS, slowFactor: 1 }, rng)}\n`;
  }
  return text;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bobtail-rehearsal-"));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  return folder;
}

function writePolicies(folder: string, urls: readonly string[]): string[] {
  const endpoints = urls.map((url) => `\n      - ${url}`).join("");
  return Object.entries(POLICIES).map(([name, body]) => {
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, `services:\n  fleet:\n    endpoints:${endpoints}${body}\n`);
    return file;
  });
}

async function measuredP99Ms(file: string, fleet: Fleet): Promise<number> {
  await fleet.reset();
  const reading = loadPolicy(file);
  if (!reading.ok) throw new Error("the policy file is wrong");
  const proxy = await startProxy({
    listeners: [{ host: "127.0.0.1", port: 0, service: "fleet" }],
    services: reading.config.services,
  });
  cleanups.push(() => proxy.close());
  const { measured } = await startLoad({
    url: `http://127.0.0.1:${proxy.addresses[0]?.port}/`,
    ratePerSec: RATE,
    warmupMs: SECONDS * 1000 * WARM_UP_RATIO,
    durationMs: SECONDS * 1000 * (1 - WARM_UP_RATIO),
    timeoutMs: 60_000,
    seed: 1,
  }).report;
  await proxy.close();
  return measured.completed.quantile(0.99) / 1000;
}

test("the order in which a rehearsal puts three policy files by their p99 is the proxy's order on real sockets", async () => {
  const folder = temporaryFolder();
  const fleet = await startFleet({ backends: BACKENDS, queueLimitMs: QUEUE_LIMIT_MS, seed: 1 });
  cleanups.push(() => fleet.stop());
  const files = writePolicies(folder, fleet.urls);
  const traceFile = join(folder, "trace.csv");
  writeFileSync(traceFile, trace(1001));

  const rows = await rehearseAll(
    readCandidates(files, { palette: createPalette(false) }),
    await readTrace(traceFile),
    {
      workers: 4,
      slow: new Map([[0, 5]]),
      queueTimeoutMs: QUEUE_LIMIT_MS,
      copies: "independent",
      cancel: "queued",
      warmUpRatio: WARM_UP_RATIO,
      runs: 3,
      seed: 1,
    },
  );
  const predicted = rows.map((row) => ({ file: row.name, p99Ms: row.latencyMs.p99?.mean ?? 0 }));
  const measured: typeof predicted = [];
  for (const file of files) measured.push({ file, p99Ms: await measuredP99Ms(file, fleet) });

  const worstFirst = (found: typeof predicted) =>
    [...found].sort((a, b) => b.p99Ms - a.p99Ms).map(({ file }) => file);
  expect(worstFirst(predicted), JSON.stringify(predicted)).toEqual(files);
  expect(worstFirst(measured), JSON.stringify(measured)).toEqual(files);
}, 180_000);

test("`bobtail sim --policy --trace` prints each policy, the change against the first, and the same as JSON", async () => {
  const folder = temporaryFolder();
  const urls = BACKENDS.map((_, i) => `http://127.0.0.1:${10_001 + i}`);
  const [first = "", , hedged = ""] = writePolicies(folder, urls);
  const traceFile = join(folder, "trace.csv");
  writeFileSync(traceFile, trace(1001));
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
