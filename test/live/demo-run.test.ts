import { expect, test } from "vitest";
import { runDemo } from "../../packages/cli/src/demo/demo.ts";
import type { DemoProgress } from "../../packages/cli/src/demo/demo-options.ts";
import { demoJson } from "../../packages/cli/src/demo/demo-report.ts";

test("the demo shows a sick backend under round robin, and none under Bobtail", async () => {
  const seen: DemoProgress[] = [];
  const report = await runDemo({
    seconds: 3,
    ratePerSec: 1_600,
    factor: 2,
    onProgress: (progress) => seen.push(progress),
  });
  const json = demoJson(report);
  expect(json.schema).toBe("bobtail.demo/1");
  expect(json.phases.map((phase) => phase.name)).toEqual(["round-robin", "bobtail"]);
  const [turns, bobtail] = json.phases;
  if (turns === undefined || bobtail === undefined) throw new Error("a phase is missing");
  expect(turns.requests).toBe(bobtail.requests);
  expect(turns.requests).toBe((1_600 / 2) * 3);

  // In turn, one request in ten goes to a backend that can serve half of them.
  expect(turns.slow_share_ratio).toBeCloseTo(0.1, 2);
  expect(turns.failed_ratio).toBeGreaterThan(0.01);
  expect([turns.extra_ratio, turns.hedges_won]).toEqual([0, 0]);

  expect(bobtail.slow_share_ratio).toBeLessThan(turns.slow_share_ratio / 2);
  expect(bobtail.failed_ratio).toBeLessThan(turns.failed_ratio / 10);
  // A machine that stood still for a while has put its own pauses into both tails.
  if (!report.isTooSlow) expect(bobtail.p99_ms).toBeLessThan(turns.p99_ms ?? 0);
  expect(bobtail.extra_ratio).toBeGreaterThan(0);
  expect(bobtail.extra_ratio).toBeLessThan(0.06);
  expect(bobtail.hedges_won).toBeGreaterThan(0);

  const labels = [...new Set(seen.map((progress) => progress.label))];
  expect(labels).toEqual(["Round robin", "Bobtail"]);
});

test("without hedging Bobtail sends no second copies", async () => {
  const { phases } = await runDemo({ seconds: 1, ratePerSec: 400, hedge: false, factor: 1 });
  expect(phases.map((phase) => [phase.label, phase.hedgesWon, phase.extraRatio])).toEqual([
    ["Round robin", 0, 0],
    ["Bobtail", 0, 0],
  ]);
});

test("a demo that is stopped gives what it has, marked, and leaves no process behind", async () => {
  const stop = new AbortController();
  const report = await runDemo({
    seconds: 60,
    ratePerSec: 500,
    factor: 1,
    signal: stop.signal,
    onProgress: ({ requests }) => {
      if (requests > 0) stop.abort();
    },
  });
  expect(report.partial).toBe(true);
  expect(report.phases.map((phase) => phase.name)).toEqual(["round-robin"]);
  expect(demoJson(report).partial).toBe(true);
  const children = (): string[] =>
    process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap");
  await expect.poll(children).toEqual([]);
});

test("the demo measures the machine first, and stops in the middle of that too", async () => {
  const stop = new AbortController();
  const labels: string[] = [];
  const report = await runDemo({
    signal: stop.signal,
    onProgress: ({ label }) => {
      labels.push(label);
      stop.abort();
    },
  });
  expect([report.phases, report.partial, labels[0]]).toEqual([[], true, "Calibrating"]);
});

test.each([
  ["seconds", { seconds: 0 }],
  ["rate", { ratePerSec: -1 }],
  ["seed", { seed: 0.5 }],
  ["factor", { factor: 0.5 }],
])("an option out of range is refused by name: %s", async (name, options) => {
  await expect(runDemo(options)).rejects.toThrow(name);
});
