import { seededRng } from "bobtail/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hodgesLehmann } from "./hodges-lehmann.ts";
import { leftOutDifferences } from "./rank-sum.ts";

test("the permeability example of Hollander & Wolfe (4.1): 0.305 lower, between -0.76 and 0.15", () => {
  const x = [0.8, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
  const y = [1.15, 0.88, 0.9, 0.74, 1.21];
  const leftOut = leftOutDifferences(x.length, y.length, 0.05);
  const shift = hodgesLehmann(x, y, { scale: "difference", leftOut });
  expect(shift.estimate).toBeCloseTo(-0.305, 10);
  expect(shift.low).toBeCloseTo(-0.76, 10);
  expect(shift.high).toBeCloseTo(0.15, 10);
});

const ms = fc.double({ min: 0.1, max: 10_000, noNaN: true });
const side = fc.array(ms, { minLength: 1, maxLength: 9 });

test("of ratios it is the median of all b / a, less one", () => {
  fc.assert(
    fc.property(side, side, (a, b) => {
      const { estimate = Number.NaN } = hodgesLehmann(a, b, { scale: "ratio", leftOut: 1 });
      const ratios = b.flatMap((after) => a.map((before) => after / before)).sort((x, y) => x - y);
      const [low, high] = [ratios[(ratios.length - 1) >> 1], ratios[ratios.length >> 1]];
      expect((1 + estimate) / Math.sqrt((low ?? 0) * (high ?? 0))).toBeCloseTo(1, 9);
    }),
  );
});

test("the interval ends at the k-th difference from either end, and swapping the sides mirrors it", () => {
  fc.assert(
    fc.property(side, side, fc.nat({ max: 3 }), (a, b, k) => {
      const leftOut = Math.min(1 + k, (a.length * b.length) >> 1 || 1);
      const shift = hodgesLehmann(a, b, { scale: "difference", leftOut });
      const all = b.flatMap((after) => a.map((before) => after - before)).sort((x, y) => x - y);
      expect(shift.low).toBe(all[leftOut - 1]);
      expect(shift.high).toBe(all.at(-leftOut));
      const mirrored = hodgesLehmann(b, a, { scale: "difference", leftOut });
      expect(mirrored.low).toBe(0 - shift.high);
      expect(mirrored.high).toBe(0 - shift.low);
    }),
  );
});

test("without enough runs the interval holds everything", () => {
  expect(hodgesLehmann([1, 2], [3, 4], { scale: "ratio", leftOut: 0 })).toMatchObject({
    low: -1,
    high: Number.POSITIVE_INFINITY,
  });
});

const INF = Number.POSITIVE_INFINITY;

test("a side that became unbounded is infinitely worse, and one that was is infinitely better", () => {
  const options = { scale: "ratio", leftOut: 3 } as const;
  const finite = [10, 11, 12, 13, 14];
  const infinite = [INF, INF, INF, INF, INF];
  expect(hodgesLehmann(finite, infinite, options)).toEqual({ estimate: INF, low: INF, high: INF });
  expect(hodgesLehmann(infinite, finite, options)).toEqual({ estimate: -1, low: -1, high: -1 });
});

test("two sides that are unbounded may differ by anything, and nothing is ever NaN", () => {
  const options = { scale: "ratio", leftOut: 3 } as const;
  expect(hodgesLehmann([INF, INF, INF], [INF, INF, INF], options)).toEqual({
    estimate: undefined,
    low: -1,
    high: INF,
  });
  const value = fc.oneof(ms, fc.constant(INF), fc.constant(0));
  const mixed = fc.array(value, { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(mixed, mixed, (a, b) => {
      const { estimate = 0, low, high } = hodgesLehmann(a, b, { scale: "ratio", leftOut: 1 });
      expect([estimate, low, high].some(Number.isNaN)).toBe(false);
      expect(low).toBeLessThanOrEqual(high);
    }),
  );
});

test("the interval holds the true shift as often as it says, within what chance allows", () => {
  const rng = seededRng(1);
  const leftOut = leftOutDifferences(8, 8, 0.05);
  const draw = (shift: number): number[] =>
    Array.from({ length: 8 }, () => shift - Math.log(1 - rng.next()));
  let held = 0;
  for (let i = 0; i < 2_000; i++) {
    const { low, high } = hodgesLehmann(draw(0), draw(0.7), { scale: "difference", leftOut });
    if (low <= 0.7 && 0.7 <= high) held++;
  }
  expect(held / 2_000).toBeGreaterThan(0.935);
  expect(held / 2_000).toBeLessThan(0.97);
});
