import { expect, test } from "vitest";
import { emptySection, type LoadReport } from "../load/load-report.ts";
import type { Measurement, Moment } from "./cell-figures.ts";
import type { CellJob, CellOutcome } from "./run-cell.ts";
import { runTrial, type TrialPlan } from "./run-trial.ts";
import { fakeScenario, fakeTarget, SETUP } from "./trial.testbed.ts";
import { exitCodeOf } from "./trial-exit.ts";

const MEAN_MICROS = 20_000;

/** Of requests that are all as fast as the mean; late by so much. */
function measurementOf(
  job: CellJob,
  { lateMs = 0, failed = 0, requests = 1_000 } = {},
): Measurement {
  const measured = emptySection(requests);
  measured.ledger.sent = requests;
  measured.ledger.ok = requests - failed;
  measured.ledger.httpErrors = failed;
  for (const histogram of [measured.completed, measured.all])
    histogram.record(MEAN_MICROS * job.factor, requests - failed);
  measured.pacingLag.record(1, requests);
  const moment = (received: number): Moment => ({
    atMs: received,
    fleet: {
      backends: [{ ...NO_COUNTS, received }],
      replyLagP99Ms: lateMs,
      cpuMs: received / 2,
    },
    targetCpuMs: undefined,
  });
  const check = { verdict: "ok", reasons: [], cpuCores: 0.1 };
  const load = { measured, check } as unknown as LoadReport;
  const { factor, meanMs } = job;
  return { load, before: moment(0), after: moment(1_050), sick: [0], factor, meanMs };
}

const NO_COUNTS = {
  received: 0,
  started: 0,
  served: 0,
  timedOut: 0,
  refused: 0,
  cancelledQueued: 0,
  cancelledRunning: 0,
  queued: 0,
  running: 0,
} as Moment["fleet"]["backends"][number];

const measuredAs =
  (how: Parameters<typeof measurementOf>[1] = {}) =>
  async (job: CellJob): Promise<CellOutcome> => ({
    kind: "measured",
    measurement: measurementOf(job, how),
    config: `config of ${job.target.name}`,
  });

async function run(runCell: TrialPlan["runCell"], some: Partial<TrialPlan> = {}) {
  const jobs: string[] = [];
  const report = await runTrial({
    version: "0.1.0",
    command: "bobtail trial",
    targets: ["nginx/a", "bobtail"].map((name) => ({
      target: fakeTarget(name),
      found: { version: "1.0", path: "/bin/x" },
      warnings: [],
    })),
    scenarios: [fakeScenario("healthy"), fakeScenario("slow")],
    setup: SETUP,
    timeScale: 1,
    signal: new AbortController().signal,
    onEvent: (event) => {
      if (event.kind === "cell") jobs.push(`${event.cell.scenario} ${event.cell.target}`);
    },
    runCell,
    ...some,
  });
  return { report, jobs };
}

test("all targets of a scenario run one after the other, before the next scenario", async () => {
  const { report, jobs } = await run(measuredAs());
  expect(jobs).toEqual(["healthy nginx/a", "healthy bobtail", "slow nginx/a", "slow bobtail"]);
  expect(report.cells.map(({ grade }) => grade)).toEqual(["A", "A", "A", "A"]);
  expect(report.targets.map(({ config }) => config)).toEqual([
    "config of nginx/a",
    "config of bobtail",
  ]);
  expect([report.partial, report.plannedCells]).toEqual([false, 4]);
});

test("a cell that the machine disturbed is run once more at half the speed, and the next ones stay there while it is late", async () => {
  const factors: number[] = [];
  const { report } = await run((job) => {
    factors.push(job.factor);
    expect(job.run.load).toMatchObject({
      ratePerSec: 1_000 / job.factor,
      durationMs: 10_000 * job.factor,
      warmupMs: 4_000 * job.factor,
      timeoutMs: 3_000 * job.factor,
    });
    return measuredAs({ lateMs: factors.length === 2 ? 50 : factors.length < 5 ? 3 : 0 })(job);
  });
  expect(factors).toEqual([1, 1, 2, 2, 2]);
  expect(report.cells.map(({ state, factor, isRetry }) => [state, factor, isRetry])).toEqual([
    ["graded", 1, false],
    ["graded", 2, true],
    ["graded", 2, false],
    ["graded", 2, false],
  ]);
  // Twice as long at half the speed: reports divide by it.
  for (const { figures } of report.cells)
    expect(figures?.p99).toMatchObject({ ms: expect.closeTo(20, 0) });
});

test("requests that are too few for a p99 have no grade, and are not run again", async () => {
  const factors: number[] = [];
  const { report } = await run((job) => {
    factors.push(job.factor);
    return measuredAs({ requests: factors.length === 1 ? 367 : 368 })(job);
  });
  expect(factors).toEqual([1, 1, 1, 1]);
  expect(report.cells.map(({ grade }) => grade)).toEqual([undefined, "A", "A", "A"]);
  expect(report.cells[0]).toMatchObject({
    state: "not-valid",
    why: "367 requests are too few for a grade, which takes 368: give more --seconds.",
  });
  expect(exitCodeOf(report, {})).toBe(5);
});

test("a machine that has time to spare again is asked for the speed that was asked for first, no more", async () => {
  const factors: number[] = [];
  await run(
    (job) => {
      factors.push(job.factor);
      return measuredAs({ lateMs: factors.length < 3 ? 50 : 0 })(job);
    },
    { timeScale: 2 },
  );
  expect(factors).toEqual([2, 4, 4, 2, 2]);
});

test("a cell that is disturbed twice is not valid, has no grade, and the exit code says so", async () => {
  const { report } = await run(measuredAs({ lateMs: 5_000 }), {
    scenarios: [fakeScenario("slow")],
  });
  expect(report.cells.map(({ state, grade }) => [state, grade])).toEqual([
    ["not-valid", undefined],
    ["not-valid", undefined],
  ]);
  expect(report.cells[0]?.why).toContain("replies left up to 5000.0 ms late");
  expect(exitCodeOf(report, {})).toBe(5);
});

test("no machine is asked to run slower than at an eighth of the speed", async () => {
  const factors: number[] = [];
  await run((job) => {
    factors.push(job.factor);
    return measuredAs({ lateMs: 5_000 })(job);
  });
  expect(factors).toEqual([1, 2, 2, 4, 4, 8, 8]);
});

test("a target that dies gets an F, one that does not start no grade, and the trial goes on", async () => {
  const { report } = await run(async (job) => {
    if (job.target.name === "bobtail") return { kind: "not-started", why: "no port" };
    return { kind: "died", why: "signal SIGKILL: out of memory", config: "x" };
  });
  expect(report.cells.map(({ target, state, grade }) => [target, state, grade])).toEqual([
    ["nginx/a", "died", "F"],
    ["bobtail", "not-started", undefined],
    ["nginx/a", "died", "F"],
    ["bobtail", "not-started", undefined],
  ]);
  expect(report.cells[0]?.why).toBe("signal SIGKILL: out of memory");
  expect(exitCodeOf(report, {})).toBe(3);
});

test("a stopped trial reports what it has, the cell that it was in too, and nothing after it", async () => {
  const stop = new AbortController();
  const { report } = await run(
    async (job) => {
      if (job.target.name !== "bobtail") return measuredAs()(job);
      stop.abort();
      return { kind: "stopped", measurement: measurementOf(job), config: "" };
    },
    { signal: stop.signal },
  );
  expect(report.cells.map(({ target, state, grade }) => [target, state, grade])).toEqual([
    ["nginx/a", "graded", "A"],
    ["bobtail", "stopped", undefined],
  ]);
  expect([report.partial, report.plannedCells]).toEqual([true, 4]);
});

test("a grade below what was asked for is told by the exit code, whatever else there is", async () => {
  const { report } = await run(measuredAs({ failed: 50 }));
  expect(report.cells[0]).toMatchObject({
    grade: "E",
    why: "4.0 % of requests or more fail beyond the ideal",
  });
  expect(exitCodeOf(report, { failBelow: "E" })).toBe(0);
  expect(exitCodeOf(report, { failBelow: "D" })).toBe(3);
});

test("extra load is what the fleet received beyond what was sent", async () => {
  const { report } = await run(measuredAs());
  expect(report.cells[0]?.figures).toMatchObject({
    extraRatio: expect.closeTo(0.05, 10),
    sickShareRatio: 1,
    requests: 1_000,
    cpu: { fleet: 0.5, target: undefined },
  });
});
