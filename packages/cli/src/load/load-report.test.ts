import { samplesForInterval } from "bobtail/plan";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  emptySection,
  headlineQuantile,
  type LoadSection,
  supportedQuantileMs,
} from "./load-report.ts";

/** ok ones at these times, `timeouts` given up at theirs, and failures. */
function section(
  okMs: readonly number[],
  { timeoutsMs = [], failed = 0, dropped = 0 }: Partial<Shape> = {},
): LoadSection {
  const made = emptySection(0);
  for (const ms of okMs) {
    made.completed.record(ms * 1_000);
    made.all.record(ms * 1_000);
  }
  for (const ms of timeoutsMs) made.all.record(ms * 1_000);
  made.ledger.httpErrors = failed;
  made.ledger.dropped = dropped;
  return made;
}

interface Shape {
  readonly timeoutsMs: readonly number[];
  readonly failed: number;
  readonly dropped: number;
}

/** A bucket is 0.8 % wide. */
const near = (ms: number): unknown => expect.closeTo(ms, 1);
const times = (count: number, ms: number): number[] => new Array<number>(count).fill(ms);

test("load 2: one request in ten that is never answered makes the p99 at least the timeout", () => {
  const run = section(times(900, 5), { timeoutsMs: times(100, 1_000) });
  expect(headlineQuantile(run, 0.99)).toEqual({ ms: 1_000, bound: "at-least" });
  expect(headlineQuantile(run, 0.5)).toEqual({ ms: near(5), bound: "exact" });
  expect(supportedQuantileMs(run.completed, 0.99)).toBe(5);
});

test("failed and dropped requests took for ever: a percentile among them has no bound", () => {
  const run = section(times(960, 5), { failed: 30, dropped: 10 });
  expect(headlineQuantile(run, 0.95)).toEqual({ ms: near(5), bound: "exact" });
  expect(headlineQuantile(run, 0.99)).toBe("unbounded");
});

test("a request given up early makes those percentiles lower bounds that it could have raised", () => {
  const run = section([...times(500, 1), ...times(500, 100)], { timeoutsMs: times(50, 2) });
  expect(headlineQuantile(run, 0.3)).toEqual({ ms: near(1), bound: "exact" });
  // Rank 525 of 1050: the 25th of those given up at 2 ms. Had they all been answered late, it were 100 ms.
  expect(headlineQuantile(run, 0.5)).toMatchObject({ bound: "at-least" });
  expect(headlineQuantile(run, 0.9)).toEqual({ ms: 100, bound: "exact" });
});

test("load 9: the rank is ceil(q n), for every count and quantile", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.nat(200), (count, failed) => {
      // Below 256 microseconds every value has its own bucket.
      const run = section(Array.from({ length: count }, (_, i) => (i + 1) / 1_000));
      run.ledger.transportErrors = failed;
      for (const [num, den] of [
        [1, 2],
        [9, 10],
        [19, 20],
      ] as const) {
        const n = count + failed;
        if (n < samplesForInterval(num / den)) continue;
        const rank = Math.floor((num * n + den - 1) / den);
        const expected = rank > count ? "unbounded" : { ms: rank / 1_000, bound: "exact" };
        expect(headlineQuantile(run, num / den)).toEqual(expected);
      }
    }),
  );
});

test("load 9: p99.9 is not p99, and the last rank is the greatest value", () => {
  const run = section([...times(9_980, 1), ...times(20, 700)]);
  expect(headlineQuantile(run, 0.99)).toEqual({ ms: near(1), bound: "exact" });
  expect(headlineQuantile(run, 0.999)).toEqual({ ms: expect.closeTo(700, -1), bound: "exact" });
  expect(run.all.quantile(1)).toBe(700_000);
});

test("load 10: 525 requests have a p99 and no p99.99, which takes 36,887", () => {
  const run = section(times(525, 3));
  expect(headlineQuantile(run, 0.99)).toEqual({ ms: 3, bound: "exact" });
  expect(headlineQuantile(run, 0.9999)).toBeUndefined();
  expect(samplesForInterval(0.9999)).toBe(36_887);
  expect(headlineQuantile(section(times(36_886, 3)), 0.9999)).toBeUndefined();
  expect(headlineQuantile(section(times(36_887, 3)), 0.9999)).toBeDefined();
});

test("load 14: of nothing and of few there is no percentile, and never NaN", () => {
  fc.assert(
    fc.property(
      fc.nat(5),
      fc.nat(5),
      fc.double({ min: 0.01, max: 0.9999, noNaN: true }),
      (ok, failed, q) => {
        const run = section(times(ok, 1), { failed });
        const value = headlineQuantile(run, q);
        if (typeof value === "object") expect(value.ms).toBeGreaterThan(0);
        const alone = supportedQuantileMs(run.completed, q);
        if (alone !== undefined) expect(alone).toBeGreaterThan(0);
      },
    ),
  );
});

test("load 8: where all values lie in one bucket, a quantile is that value and no share of it", () => {
  const run = section(times(100, 0.04));
  expect(headlineQuantile(run, 0.5)).toEqual({ ms: 0.04, bound: "exact" });
  expect(headlineQuantile(run, 0.1)).toEqual({ ms: 0.04, bound: "exact" });
});

test("load 15: a time beyond the range counts as the greatest, and is counted", () => {
  const run = section([...times(99, 1), 7_200_000]);
  expect([run.all.count, run.all.overRangeCount]).toEqual([100, 1]);
  expect(run.all.quantile(1)).toBe(run.all.maxValue);
});
