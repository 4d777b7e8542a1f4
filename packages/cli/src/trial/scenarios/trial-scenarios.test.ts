import { expect, test } from "vitest";
import { capacityPerSec, checkFleetOptions } from "../../fleet/fleet-options.ts";
import { shapeFactor } from "../../fleet/request-shape.ts";
import type { TrialSetup } from "./scenario.ts";
import { trialScenarios } from "./trial-scenarios.ts";
import { trialSetup } from "./trial-setup.ts";

const runs = trialScenarios.map((scenario) => ({
  scenario,
  run: scenario.build(trialSetup({}, "quick")),
}));

test("there are fifteen scenarios, in the order of the docs, each with a question", () => {
  expect(trialScenarios.map(({ name }) => name)).toEqual([
    "healthy",
    "slow",
    "two-slow",
    "fail-fast",
    "stalls",
    "black-hole",
    "headers-then-silence",
    "flapping",
    "restart",
    "cold-join",
    "slow-key",
    "all-slow",
    "half-gone",
    "resets",
    "mixed-sizes",
  ]);
  for (const { question } of trialScenarios) expect(question).toMatch(/^[A-Z].*\?$/);
});

test("the quick set takes less than two minutes, warm-ups and drains included", () => {
  const quick = runs.filter(({ scenario }) => scenario.quick);
  expect(quick.length).toBeGreaterThanOrEqual(6);
  const sumMs = quick.reduce((sum, { run }) => {
    const { warmupMs, durationMs, timeoutMs } = run.load;
    return sum + warmupMs + durationMs + timeoutMs;
  }, 0);
  expect(sumMs).toBeLessThan(120_000);
});

test("every quick run is long enough for its p99.9", () => {
  for (const { scenario, run } of runs) {
    if (!scenario.quick) continue;
    const requests = (run.load.ratePerSec * run.load.durationMs) / 1_000;
    expect(requests * 0.001, scenario.name).toBeGreaterThan(3.7);
  }
});

test("every fleet is one that starts, every script is in order and inside the run, every sick backend exists", () => {
  for (const { run } of runs) {
    expect(checkFleetOptions(run.fleet).backends).toHaveLength(10);
    const times = run.script.map(({ atMs }) => atMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    for (const atMs of times) expect(atMs).toBeLessThan(run.load.durationMs);
    for (const index of run.sick) expect(run.fleet.backends[index]).toBeDefined();
  }
});

test("backends that a script makes sick are those that are named sick", async () => {
  for (const { scenario, run } of runs) {
    if (scenario.name === "all-slow") continue;
    const touched = new Set<number>();
    for (const { act } of run.script)
      await act({ control: async (index: number) => void touched.add(index) } as never);
    for (const index of touched) expect(run.sick).toContain(index);
  }
});

test("the load is 70 % of what the fleet serves with its slow backend, as in the demo", () => {
  const slow = runs.find(({ scenario }) => scenario.name === "slow")?.run;
  expect(slow?.load.ratePerSec).toBeCloseTo(0.7 * capacityPerSec(slow?.fleet.backends ?? []), 6);
  expect(slow?.load.ratePerSec).toBeCloseTo(1_288, 6);
  expect(slow?.fleet.queueLimitMs).toBe(2_000);
});

test("where requests differ the load counts what they take: one key in fifty is ten times longer", () => {
  const run = runs.find(({ scenario }) => scenario.name === "slow-key")?.run;
  const factors = run?.load.paths.map(({ path }) => shapeFactor(run.fleet.shapes ?? {}, path));
  expect(factors?.filter((factor) => factor === 10)).toHaveLength(1);
  expect(factors?.filter((factor) => factor === 1)).toHaveLength(49);
  expect(run?.load.ratePerSec).toBeCloseTo((0.7 * 2_000) / 1.18, 6);
});

test("an ideal never fails, and its sick share is what a fair share is while the backend is well", () => {
  const shareOf = (name: string) =>
    runs.find(({ scenario }) => scenario.name === name)?.run.oracle.sickShareRatio;
  expect([shareOf("slow"), shareOf("fail-fast")]).toEqual([0, 0]);
  expect(shareOf("black-hole")).toBeCloseTo(0.06, 9);
  expect(shareOf("half-gone")).toBeCloseTo(0.3, 9);
  for (const { run } of runs) {
    const { p50Ms, p99Ms, p999Ms, failedRatio, extraRatio, sickShareRatio } = run.oracle;
    expect([failedRatio, p50Ms < p99Ms, p99Ms < p999Ms]).toEqual([0, true, true]);
    expect(extraRatio).toBeLessThan(0.06);
    expect(sickShareRatio).toBeGreaterThanOrEqual(0);
  }
});

test("twice the mean service time is the same trial at half the rate and twice the time", () => {
  const scenario = trialScenarios.find(({ name }) => name === "restart");
  const at = (meanMs: number) => scenario?.build(trialSetup({ meanMs }, "quick"));
  const [once, twice] = [at(10), at(20)];
  expect((twice?.oracle.p99Ms ?? 0) / (once?.oracle.p99Ms ?? 0)).toBeCloseTo(2, 1);
  expect((twice?.load.ratePerSec ?? 0) * 2).toBeCloseTo(once?.load.ratePerSec ?? 0, 6);
  expect(twice?.load.warmupMs).toBe(2 * (once?.load.warmupMs ?? 0));
});

test.each<[string, Partial<TrialSetup>]>([
  ["meanMs", { meanMs: 0 }],
  ["backends", { backends: 3 }],
  ["workers", { workers: 64, backends: 64 }],
  ["loadRatio", { loadRatio: 1 }],
  ["durationMs", { durationMs: Number.NaN }],
  ["warmupMs", { warmupMs: -1 }],
  ["seed", { seed: 1.5 }],
])("a setup out of range is refused by name: %s", (name, options) => {
  expect(() => trialSetup(options, "full")).toThrow(name);
});
