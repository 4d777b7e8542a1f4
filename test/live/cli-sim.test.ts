import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runCli, startCli } from "./cli-process.testbed.ts";

const folder = mkdtempSync(join(tmpdir(), "bobtail-sim-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WORLD = `
servers: [{ count: 3, workers: 2 }, { workers: 2, slowdown: 4 }]
size: { kind: exponential, meanMs: 10 }
arrivals: { kind: poisson, load: 0.6 }
requests: 2000
policies:
  round robin: { balance: { policy: round-robin } }
  hedged: { hedge: { afterMs: 30 }, budget: { extraRatio: 0.1 } }
`;
const world = write("world.yaml", WORLD);
const SWEEP = [world, "--runs", "3", "--sweep", "arrivals.load=30%..60%:30%"];

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

test("one thread and three give the same result, to the last digit, and nothing but the result is on stdout", async () => {
  const [one, three] = await Promise.all(
    ["1", "3"].map((workers) => runCli("sim", ...SWEEP, "--json", "--workers", workers)),
  );
  expect(one).toMatchObject({ exitCode: 0, stderr: "" });
  expect(JSON.parse(one?.stdout ?? "")).toMatchObject({
    schema: "bobtail.sim/1",
    partial: false,
    done_runs: 12,
    rows: [
      { name: "round robin", at: { "arrivals.load": 0.3 }, runs: 3 },
      { name: "round robin", at: { "arrivals.load": 0.6 } },
      { name: "hedged", at: { "arrivals.load": 0.3 } },
      { name: "hedged", at: { "arrivals.load": 0.6 } },
    ],
  });
  expect(three?.stdout).toBe(one?.stdout);
});

test("shards run apart and merged are the whole run; merging needs all of them, once", async () => {
  const whole = await runCli("sim", ...SWEEP, "--csv");
  const files = [1, 2, 3].map((i) => join(folder, `part${i}.json`));
  for (const [i, out] of files.entries()) {
    const shard = ["--shard", `${i + 1}/3`, "--out", out];
    const { exitCode, stdout, stderr } = await runCli("sim", ...SWEEP, ...shard);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect(stderr).toMatch(/^sim: 4 of 4 runs of shard/);
  }
  const merged = await runCli("sim", "merge", ...files, "--csv");
  expect(merged).toEqual({ exitCode: 0, stderr: "", stdout: whole.stdout });

  const [one = "", two = ""] = files;
  expect(await runCli("sim", "merge", one, two)).toMatchObject({
    exitCode: 2,
    stdout: "",
    stderr: expect.stringMatching(/shards are missing: 3\/3/),
  });
  expect(await runCli("sim", "merge", ...files, two)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/part2\.json: shard 2\/3 is in .*part2\.json already/),
  });
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s ends it with what is done, marked as partial", async (signal, exitCode) => {
  // The first row is done at once, the second would take hours.
  const long = write(`long-${signal}.yaml`, WORLD.replace("requests: 2000", "requests: 100"));
  const sweep = ["--sweep", "requests=100,900000000", "--set", "policies.hedged.deadlineMs=1s"];
  const cli = startCli(["sim", long, ...sweep, "--workers", "1", "--json"]);
  const ended = cli.finished;
  await untilOneRunIsDone(cli.child.pid);
  cli.child.kill(signal);
  const { exitCode: code, stdout } = await ended;
  expect(code).toBe(exitCode);
  expect(JSON.parse(stdout)).toMatchObject({ partial: true, total_runs: 4 });
});

/** It says nothing before ten seconds have passed, so what it costs tells that its threads are at work. */
async function untilOneRunIsDone(pid: number | undefined): Promise<void> {
  const ticks = (): number => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return Number(fields[11]) + Number(fields[12]);
  };
  while (ticks() < 150) await new Promise((resolve) => setTimeout(resolve, 50));
}

test("a mistake in a file is told with its place, and nothing is run", async () => {
  const file = write(
    "wrong.yaml",
    WORLD.replace("meanMs", "meanMS").replace("count: 3", "count: 0"),
  );
  const { exitCode, stdout, stderr } = await runCli("sim", file);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toMatch(/wrong\.yaml:2:20: error: servers\[0\]\.count is 0/);
  expect(stderr).toMatch(/wrong\.yaml:3:28: error: size\.meanMS is not known here/);
  expect(stderr).toMatch(/Did you mean meanMs\?/);
});

test.each([
  [["slow-backnd"], /Did you mean slow-backend\?/],
  [["no/such.yaml"], /no such file/],
  [[world, "--set", "arrivals.laod=1"], /did you mean load\?/],
  [[world, "--sweep", "arrivals.load=1..2:0"], /does not lead from 1 to 2/],
  [[world, "--shard", "4/3"], /Expected i\/n/],
  [[world, "--shard", "1/3"], /--shard needs --out/],
  [[world, "--out", "x.json"], /--out needs --shard/],
  [[world, "--json", "--csv"], /cannot be used with/],
  [[world, "--html", "/no/such/folder/x.html"], /there is no such directory/],
  [[world, "--workers", "0"], /Expected a whole number from 1/],
  [[], /missing required argument/],
])("sim %j is refused as a mistake of usage", async (args, message) => {
  const { exitCode, stdout, stderr } = await runCli("sim", ...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toMatch(message);
});

test("sim list names every scenario, for people and for programs", async () => {
  const [text, json] = await Promise.all([runCli("sim", "list"), runCli("sim", "list", "--json")]);
  expect(text).toMatchObject({
    exitCode: 0,
    stderr: "",
    stdout: expect.stringMatching(/^slow-backend$/m),
  });
  const { schema, scenarios } = JSON.parse(json.stdout) as {
    schema: string;
    scenarios: { name: string }[];
  };
  expect(schema).toBe("bobtail.sim-list/1");
  for (const { name } of scenarios) expect(text.stdout).toContain(`${name}\n`);
});

test("a built-in scenario prints its table, and its charts go to one file", async () => {
  const html = join(folder, "report.html");
  const args = ["slow-backend", "--runs", "2", "--scale", "0.01", "--html", html];
  const { exitCode, stdout } = await runCli("sim", ...args);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^two choices +[\d.]+/m);
  expect(stdout).toMatch(/^ {2}published +8\.0/m);
  expect(readFileSync(html, "utf8")).toMatch(/<svg/);
});
