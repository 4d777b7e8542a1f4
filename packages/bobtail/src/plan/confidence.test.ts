import { describe, expect, test } from "vitest";
import { binomialAtLeast, binomialAtMost, binomialQuantile } from "./binomial.ts";
import {
  isSupported,
  orderStatisticRanks,
  quantileInterval,
  samplesForInterval,
  samplesForTail,
  samplesForUpperBound,
  wilsonInterval,
} from "./confidence.ts";
import { empirical } from "./empirical.ts";
import { logGamma, normalQuantile, normalTail } from "./special-functions.ts";

describe("the binomial", () => {
  /** The sum itself, term by term. */
  function summed(k: number, n: number, p: number): number {
    let sum = 0;
    for (let i = 0; i <= k; i++) {
      let ways = 1;
      for (let j = 0; j < i; j++) ways *= (n - j) / (j + 1);
      sum += ways * p ** i * (1 - p) ** (n - i);
    }
    return sum;
  }

  test("is the sum of its terms", () => {
    for (const [k, n, p] of [
      [0, 5, 0.3],
      [3, 10, 0.5],
      [19, 40, 0.6],
      [7, 200, 0.02],
    ] as const) {
      expect(binomialAtMost(k, { trials: n, ratio: p })).toBeCloseTo(summed(k, n, p), 12);
      expect(binomialAtLeast(k + 1, { trials: n, ratio: p })).toBeCloseTo(1 - summed(k, n, p), 12);
    }
  });

  test("keeps the digits of a rare event", () => {
    // 0.05^10, to its own precision.
    const law = { trials: 10, ratio: 0.05 };
    expect(binomialAtLeast(10, law) / 0.05 ** 10).toBeCloseTo(1, 9);
  });

  test("has the quantiles that its sums say", () => {
    const law = { trials: 100, ratio: 0.3 };
    for (const q of [0.025, 0.5, 0.975]) {
      const k = binomialQuantile(q, law);
      expect(binomialAtMost(k, law)).toBeGreaterThanOrEqual(q);
      expect(binomialAtMost(k - 1, law)).toBeLessThan(q);
    }
  });

  test("refuses what is no chance", () => {
    expect(() => binomialAtMost(1, { trials: 3, ratio: 1.1 })).toThrow(/ratio in \[0, 1\]/);
    expect(() => binomialAtMost(1, { trials: 2.5, ratio: 0.1 })).toThrow(/whole number/);
  });
});

test("the normal and gamma functions match their tables", () => {
  expect(normalTail(1.959964)).toBeCloseTo(0.025, 7);
  expect(normalTail(-1)).toBeCloseTo(0.841344746, 9);
  expect(normalTail(6) / 9.865876450377e-10).toBeCloseTo(1, 10);
  expect(normalQuantile(0.975)).toBeCloseTo(1.959963985, 8);
  expect(logGamma(10)).toBeCloseTo(Math.log(362_880), 12);
  expect(logGamma(0.5)).toBeCloseTo(Math.log(Math.sqrt(Math.PI)), 12);
});

describe("ranks round a quantile", () => {
  test("are those of the binomial", () => {
    expect(orderStatisticRanks({ count: 1_000_000, quantile: 0.9999 })).toEqual({
      low: 999_880,
      high: 999_920,
    });
    expect(orderStatisticRanks({ count: 100_000, quantile: 0.999 })).toEqual({
      low: 99_880,
      high: 99_920,
    });
  });

  test("have no upper one where the sample is too small", () => {
    expect(orderStatisticRanks({ count: 10_000, quantile: 0.9999 }).high).toBeUndefined();
  });

  test("hold the truth about 95 times in 100 (the rank law itself)", () => {
    const { low, high = 0 } = orderStatisticRanks({ count: 500, quantile: 0.9 });
    const law = { trials: 500, ratio: 0.9 };
    const held = binomialAtMost(high - 1, law) - binomialAtMost(low - 1, law);
    expect(held).toBeGreaterThanOrEqual(0.95);
    expect(held).toBeLessThan(0.97);
  });

  test("turn into latencies of the log", () => {
    const law = empirical(Array.from({ length: 1_000 }, (_, i) => i + 1));
    expect(quantileInterval(law, { quantile: 0.5 })).toEqual({ low: 469, high: 532 });
    expect(quantileInterval(law, { quantile: 0.9999 }).high).toBeUndefined();
  });
});

test("how many latencies a percentile takes", () => {
  expect([0.95, 0.99, 0.999, 0.9999].map((q) => samplesForInterval(q))).toEqual([
    72, 368, 3_688, 36_887,
  ]);
  expect([0.99, 0.999, 0.9999].map((q) => samplesForUpperBound(q))).toEqual([299, 2_995, 29_956]);
  expect([0.95, 0.99, 0.999, 0.9999].map((q) => samplesForTail(q, 0.3))).toEqual([
    812, 4_226, 42_642, 426_802,
  ]);
  expect([0.95, 0.99, 0.999].map((q) => samplesForTail(q, 0.1))).toEqual([7_300, 38_032, 383_776]);
});

test("a percentile with fewer than 3.7 latencies beyond it is not supported", () => {
  expect([369, 370].map((count) => isSupported(count, 0.99))).toEqual([false, true]);
});

test("Wilson's interval is that of the textbook, and stays within [0, 1]", () => {
  const { low, high } = wilsonInterval(8, 10);
  expect(low).toBeCloseTo(0.4902, 4);
  expect(high).toBeCloseTo(0.9433, 4);
  expect(wilsonInterval(0, 10).low).toBe(0);
  expect(wilsonInterval(10, 10).high).toBe(1);
});
