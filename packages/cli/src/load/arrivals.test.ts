import { seededRng } from "bobtail/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type ArrivalPattern, Arrivals } from "./arrivals.ts";

const LEVEL = [{ fromPerSec: 7, toPerSec: 7, durationMs: 1_000 }];

function plan(pattern: ArrivalPattern, count: number, seed = 1): number[] {
  const rng = seededRng(seed);
  const arrivals = new Arrivals({ pattern, count, startMs: 500, profile: LEVEL, rng });
  const all: number[] = [];
  for (let atMs = arrivals.next(); atMs < Number.POSITIVE_INFINITY; atMs = arrivals.next())
    all.push(atMs);
  return all;
}

test("the planned count is exact, in order and within the run, whatever the pattern and the seed", () => {
  fc.assert(
    fc.property(
      fc.constantFrom<ArrivalPattern>("poisson", "uniform"),
      fc.nat(3_000),
      fc.integer(),
      (pattern, count, seed) => {
        const moments = plan(pattern, count, seed);
        expect(moments).toHaveLength(count);
        expect(moments.every((at, i) => at >= (moments[i - 1] ?? 500) && at < 1_500)).toBe(true);
      },
    ),
  );
});

test("poisson gaps vary as much as they are long, uniform ones not at all", () => {
  const variation = (moments: number[]): number => {
    const gaps = moments.slice(1).map((at, i) => at - (moments[i] ?? 0));
    const mean = gaps.reduce((a, b) => a + b, 0) / gaps.length;
    const variance = gaps.reduce((a, b) => a + (b - mean) ** 2, 0) / gaps.length;
    return Math.sqrt(variance) / mean;
  };
  expect(variation(plan("poisson", 20_000))).toBeCloseTo(1, 1);
  expect(variation(plan("uniform", 20_000))).toBeCloseTo(0, 6);
});

test("poisson arrivals do not thin out or bunch towards the end of the run", () => {
  const moments = plan("poisson", 40_000);
  for (let quarter = 0; quarter < 4; quarter++) {
    const fromMs = 500 + quarter * 250;
    const count = moments.filter((at) => at >= fromMs && at < fromMs + 250).length;
    // Binomial with deviation 87: six of them.
    expect(Math.abs(count - 10_000)).toBeLessThan(520);
  }
});

test("the same seed plans the same run", () => {
  expect(plan("poisson", 100, 8)).toEqual(plan("poisson", 100, 8));
  expect(plan("poisson", 100, 8)).not.toEqual(plan("poisson", 100, 9));
});
