import fc from "fast-check";
import { expect, test } from "vitest";
import { fewestRuns, leastPValue, leftOutDifferences, rankSumPValue } from "./rank-sum.ts";

test.each([
  // Sizes, two-sided level, critical U as tables of the Mann-Whitney test print it.
  [4, 4, 0.05, 0],
  [3, 5, 0.05, 0],
  [5, 5, 0.05, 2],
  [5, 8, 0.05, 6],
  [6, 6, 0.05, 5],
  [7, 10, 0.05, 14],
  [8, 8, 0.05, 13],
  [9, 9, 0.05, 17],
  [10, 10, 0.05, 23],
  [20, 20, 0.05, 127],
  [5, 5, 0.01, 0],
  [8, 8, 0.01, 7],
  [10, 10, 0.01, 16],
  [20, 20, 0.01, 105],
])("%i + %i values at %d: the critical value is the tables' %i", (a, b, level, critical) => {
  expect(leftOutDifferences(a, b, level) - 1).toBe(critical);
});

test("too few values for a level leave no interval: 3 + 3 at 5 %", () => {
  expect(leftOutDifferences(3, 3, 0.05)).toBe(0);
});

test("4 + 4 runs are the fewest that reach 0.05, at 0.029; with several quantities 5 + 5, at 0.008", () => {
  expect(leastPValue(4, 4)).toBeCloseTo(2 / 70, 12);
  expect(leastPValue(5, 5)).toBeCloseTo(2 / 252, 12);
  expect(rankSumPValue([1, 2, 3, 4], [5, 6, 7, 8])).toBeCloseTo(2 / 70, 12);
  expect(rankSumPValue([5, 6, 7, 8, 9], [0, 1, 2, 3, 4])).toBeCloseTo(2 / 252, 12);
  expect(fewestRuns(1, 0.05)).toBe(4);
  expect(fewestRuns(6, 0.05)).toBe(5);
});

test("the permeability example of Hollander & Wolfe (4.1): one-sided 0.1272, two-sided twice that", () => {
  const x = [0.8, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
  const y = [1.15, 0.88, 0.9, 0.74, 1.21];
  expect(rankSumPValue(x, y)).toBeCloseTo(2 * 0.1272, 3);
});

test("100 + 100 values give a p-value in (0, 1], also when all are the same", () => {
  const a = Array.from({ length: 100 }, (_, i) => i);
  const apart = rankSumPValue(
    a,
    a.map((value) => value + 100),
  );
  expect(apart).toBeGreaterThan(0);
  expect(apart).toBeLessThan(1e-50);
  expect(
    rankSumPValue(
      a.map(() => 1),
      a.map(() => 1),
    ),
  ).toBe(1);
});

test.each([
  [[], [1]],
  [[1], [Number.NaN]],
  [Array(101).fill(1), [1]],
])("samples that are empty, too large or hold NaN are refused", (a, b) => {
  expect(() => rankSumPValue(a, b)).toThrow(
    expect.objectContaining({ code: "ERR_BOBTAIL_OPTION" }),
  );
});

const value = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constant(Number.POSITIVE_INFINITY));
const sample = fc.array(value, { minLength: 1, maxLength: 5 });

test("with ties and infinite values the p-value is that of all ways to deal the labels", () => {
  fc.assert(
    fc.property(sample, sample, (a, b) => {
      expect(rankSumPValue(a, b)).toBeCloseTo(dealtPValue(a, b), 10);
    }),
  );
});

test("swapping the sides does not change the p-value", () => {
  fc.assert(
    fc.property(sample, sample, (a, b) => {
      expect(rankSumPValue(a, b)).toBeCloseTo(rankSumPValue(b, a), 12);
    }),
  );
});

/** By trying every way: how often |U - its mean| is at least as large. */
function dealtPValue(a: readonly number[], b: readonly number[]): number {
  const all = [...a, ...b];
  const distance = (chosen: readonly number[]): number => {
    const rest = all.filter((_, i) => !chosen.includes(i));
    let wins = 0;
    for (const i of chosen)
      for (const other of rest) {
        const mine = all[i] as number;
        wins += mine > other ? 1 : mine === other ? 0.5 : 0;
      }
    return Math.abs(wins - (a.length * b.length) / 2);
  };
  const seen = distance(b.map((_, i) => a.length + i));
  const deals = subsets(all.length, b.length);
  return deals.filter((chosen) => distance(chosen) >= seen).length / deals.length;
}

function subsets(count: number, size: number, from: number = 0): number[][] {
  if (size === 0) return [[]];
  return Array.from({ length: Math.max(0, count - from) }, (_, i) => from + i).flatMap((first) =>
    subsets(count, size - 1, first + 1).map((rest) => [first, ...rest]),
  );
}
