import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  evenSeconds,
  type RecordedRun,
  recordedRun,
} from "../../packages/cli/src/load/compare/recorded-run.testbed.ts";
import { resultJson } from "../../packages/cli/src/load/output/run-json.ts";
import { type Finished, startCli } from "./cli-process.testbed.ts";

let directory: string;
let startMs = Date.UTC(2026);
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "bobtail-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function store(name: string, run: Omit<RecordedRun, "secondsMs">, factor: number = 1): string {
  const record = {
    ...recordedRun({ ...run, secondsMs: evenSeconds(40, factor) }),
    startedAt: new Date(startMs++).toISOString(),
  };
  const file = join(directory, name);
  writeFileSync(file, JSON.stringify(resultJson({ kind: "run", run: record }, "1.0.0")));
  return file;
}

function storeSeveral(name: string, factor: number): string[] {
  return Array.from({ length: 6 }, (_, i) => store(`${name}${i}.json`, {}, factor + i / 1_000));
}

function compare(...args: readonly string[]): Promise<Finished> {
  return startCli(["load", ...args], { cwd: directory }).finished;
}

test("two stored runs are described and never judged: exit code 0 however much they differ", async () => {
  const { exitCode, stdout } = await compare(
    "--compare",
    store("a.json", {}),
    store("b.json", {}, 9),
  );
  expect(exitCode).toBe(0);
  expect(stdout).toContain("single runs: describes these two runs only");
  expect(stdout).not.toMatch(/worse|better/);
});

test("several stored runs a side are judged: exit code 4 when the second is worse, 0 when it is not", async () => {
  const [fast, slow] = [storeSeveral("fast", 1), storeSeveral("slow", 1.5)];
  const worse = await compare("--compare", ...fast, "--against", ...slow, "--out", "report.html");
  expect(worse.exitCode, worse.stderr).toBe(4);
  expect(worse.stdout).toContain("B is worse in p50, p90, p99");
  expect(readFileSync(join(directory, "report.html"), "utf8")).toContain("<svg");
  const better = await compare("--compare", ...slow, "--against", ...fast);
  expect(better.exitCode).toBe(0);
  const same = await compare(
    "--compare",
    ...fast,
    "--against",
    ...storeSeveral("again", 1),
    "--json",
  );
  expect(same.exitCode).toBe(0);
  const { quantities } = JSON.parse(same.stdout);
  for (const { verdict } of quantities) expect(verdict).toBe("no-difference");
});

test("a run that is named twice is refused, for it would count twice", async () => {
  const [fast, slow] = [storeSeveral("fast", 1), storeSeveral("slow", 1)];
  const again = await compare("--compare", ...fast, "--against", ...slow, fast[0] ?? "");
  expect(again.exitCode).toBe(2);
  expect(again.stderr).toMatch(/fast0\.json and \S*fast0\.json are of the same run/);
});

test("runs that were measured otherwise are refused, and the field is named", async () => {
  const [a, b] = [store("a.json", {}), store("b.json", { setup: { timeoutMs: 500 } })];
  const { exitCode, stderr } = await compare("--compare", a, b);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("they differ in timeout");
});

test.each([["--runs", "4"], ["--max-in-flight", "9"], ["--sse"]])(
  "what says how a run is made is refused beside stored ones: %s",
  async (...flag) => {
    const stored = ["--compare", store("a.json", {}), store("b.json", {})];
    const { exitCode, stdout, stderr } = await compare(...flag, ...stored);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(`${flag[0]} is of runs to be made, and these are stored`);
  },
);
