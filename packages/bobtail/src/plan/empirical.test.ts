import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Histogram } from "../core/histogram.ts";
import { empirical } from "./empirical.ts";
import {
  empiricalFromBuckets,
  empiricalFromCensored,
  empiricalFromHistogram,
  empiricalFromLaw,
} from "./empirical-sources.ts";
import { exponentialLaw } from "./known-laws.ts";

const hundred = empirical(Array.from({ length: 100 }, (_, i) => 100 - i));

describe("quantiles of a log", () => {
  test("are by rank ceil(q n) unless asked otherwise", () => {
    expect([0, 0.01, 0.5, 0.95, 0.99, 1].map((q) => hundred.quantile(q))).toEqual([
      1, 1, 50, 95, 99, 100,
    ]);
  });

  test("by the index int(q n) are one rank higher where q n is whole", () => {
    expect([0, 0.5, 0.95, 0.99, 1].map((q) => hundred.quantile(q, "int"))).toEqual([
      1, 51, 96, 100, 100,
    ]);
  });

  test("survive the rounding of q n: 0.07 of a hundred is the seventh", () => {
    expect(hundred.quantile(0.07)).toBe(7);
  });

  test("refuse a percentage", () => {
    expect(() => hundred.quantile(95)).toThrow(/quantile in \[0, 1\]/);
  });

  test("agree with a sorted list, ties and all", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 50 }),
        fc.integer({ min: 1, max: 50 }),
        (values, rank) => {
          const sorted = [...values].sort((a, b) => a - b);
          const k = Math.min(rank, values.length);
          expect(empirical(values).quantile(k / values.length)).toBe(sorted[k - 1]);
        },
      ),
    );
  });
});

test("the survival function counts what is strictly above", () => {
  const law = empirical([1, 2, 2, 4]);
  expect([-1, 0.9, 1, 2, 3, 4].map((t) => law.survival(t))).toEqual([1, 1, 0.75, 0.25, 0.25, 0]);
});

test("a log without latencies, or with one that is none, is refused", () => {
  expect(() => empirical([])).toThrow(/at least one latency/);
  for (const bad of [Number.NaN, -1, Number.POSITIVE_INFINITY])
    expect(() => empirical([1, bad, 2])).toThrow(/number in \[0, Infinity\)/);
});

test("a histogram gives the same law to its resolution", () => {
  const histogram = new Histogram();
  const values = Array.from({ length: 5_000 }, (_, i) => 500 + ((i * 7919) % 50_000));
  for (const value of values) histogram.record(value);
  const exact = empirical(values.map((us) => us / 1_000));
  const law = empiricalFromHistogram(histogram, 0.001);
  expect(law.count).toBe(5_000);
  for (const q of [0.01, 0.5, 0.9, 0.99, 1])
    expect(Math.abs(law.quantile(q) / exact.quantile(q) - 1)).toBeLessThan(0.005);
  expect(law.meanMs / exact.meanMs).toBeCloseTo(1, 2);
});

describe("latencies that were cut short", () => {
  test("count as at least that long (Kaplan-Meier)", () => {
    // Textbook: 1, 2+, 3, 4+, 5: survival 4/5, then 4/5 x 2/3, then 0.
    const law = empiricalFromCensored([
      { latencyMs: 1, ended: true },
      { latencyMs: 2, ended: false },
      { latencyMs: 3, ended: true },
      { latencyMs: 4, ended: false },
      { latencyMs: 5, ended: true },
    ]);
    expect(law.survival(1)).toBeCloseTo(0.8, 12);
    expect(law.survival(3)).toBeCloseTo(0.8 * (2 / 3), 12);
    expect(law.survival(5)).toBeCloseTo(0, 12);
    expect(law.count).toBe(5);
  });

  test("give back the law that was cut at random, where leaving them out does not", () => {
    let state = 7;
    const next = (): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    const samples = Array.from({ length: 20_000 }, () => {
      const latency = -10 * Math.log(1 - next());
      const cut = 30 * next();
      return { latencyMs: Math.min(latency, cut), ended: latency <= cut };
    });
    const law = empiricalFromCensored(samples);
    const naive = empirical(samples.filter((s) => s.ended).map((s) => s.latencyMs));
    expect(Math.abs(law.quantile(0.9) / 23.03 - 1)).toBeLessThan(0.05);
    expect(naive.quantile(0.9)).toBeLessThan(19);
  });

  test("at the end leave a tail that is not known, and is not called short", () => {
    const law = empiricalFromCensored([
      { latencyMs: 1, ended: true },
      { latencyMs: 2, ended: false },
    ]);
    expect(law.beyondRatio).toBeCloseTo(0.5, 12);
    expect(law.quantile(0.9)).toBe(Number.POSITIVE_INFINITY);
    expect(law.meanMs).toBe(Number.POSITIVE_INFINITY);
  });

  test("may come with counts", () => {
    const law = empiricalFromCensored([
      { latencyMs: 1, ended: true, count: 3 },
      { latencyMs: 2, ended: false, count: 5 },
      { latencyMs: 3, ended: true, count: 2 },
    ]);
    expect(law.count).toBe(10);
    expect(law.survival(1)).toBeCloseTo(0.7, 12);
    expect(law.survival(2.5)).toBeCloseTo(0.7, 12);
  });
});

describe("buckets by upper bounds", () => {
  test("spread their latencies evenly and leave the last, open one unknown", () => {
    const law = empiricalFromBuckets([
      { upToMs: 10, count: 50 },
      { upToMs: 100, count: 40 },
      { upToMs: Number.POSITIVE_INFINITY, count: 10 },
    ]);
    expect(law.quantile(0.25)).toBeCloseTo(5, 6);
    expect(Math.abs(law.quantile(0.7) - 55)).toBeLessThan(1.5);
    expect(law.quantile(0.95)).toBe(Number.POSITIVE_INFINITY);
    expect(law.count).toBe(100);
  });

  test("with bounds that do not rise are refused", () => {
    const twice = { upToMs: 10, count: 1 };
    expect(() => empiricalFromBuckets([twice, twice])).toThrow(/a bound above 10/);
  });
});

test("any law becomes points with its quantiles, far into the tail", () => {
  const law = empiricalFromLaw(exponentialLaw(1), 10_000);
  for (const tail of [0.5, 0.1, 0.01, 1e-4, 1e-6])
    expect(Math.abs(law.quantile(1 - tail) / -Math.log(tail) - 1)).toBeLessThan(0.005);
});
