import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isBobtailError } from "./errors.ts";
import { Histogram } from "./histogram.ts";
import {
  anyValue,
  anyValues,
  errorOf,
  exactQuantile,
  expectQuantiles,
  filled,
  QUANTILES,
  resolution,
} from "./histogram-values.testbed.ts";

describe("quantiles", () => {
  test("every quantile is within 1 / (2 x sub-buckets) of the exact sort", () => {
    fc.assert(
      fc.property(anyValues, resolution, (values, subBuckets) => {
        expectQuantiles(filled(values, subBuckets), values);
      }),
    );
  });

  test("values below twice the sub-buckets are exact", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(255), { minLength: 1 }), (values) => {
        const histogram = filled(values);
        for (const q of QUANTILES) expect(histogram.quantile(q)).toBe(exactQuantile(values, q));
      }),
    );
  });

  test("100 equal values have that value as every quantile, and none is a share of a bucket's bound", () => {
    for (const value of [3, 1000, 77_777, 3_000_000_001]) {
      const histogram = filled(Array.from({ length: 100 }, () => value));
      for (const q of QUANTILES) expect(histogram.quantile(q)).toBe(value);
    }
  });

  test("the lowest and the highest rank are exact, and p100 never exceeds the maximum", () => {
    const histogram = filled([1_000_001, 2_000_003, 3_000_005]);
    expect([histogram.quantile(0), histogram.quantile(1)]).toEqual([1_000_001, 3_000_005]);
    expect(histogram.quantile(0.99)).toBe(3_000_005);
  });

  test("the rank is ceil(q x n): the seventh of a hundred for 0.07, in spite of binary fractions", () => {
    const histogram = filled(Array.from({ length: 100 }, (_, i) => i + 1));
    for (let i = 1; i <= 100; i++) expect(histogram.quantile(i / 100)).toBe(i);
    expect(histogram.quantile(0.0701)).toBe(8);
  });

  test("a quantile outside [0, 1] is refused with its value: 95 is a percentage", () => {
    for (const q of [95, -0.1, Number.NaN]) {
      expect(errorOf(() => filled([1]).quantile(q))).toMatchObject({
        code: "ERR_BOBTAIL_OPTION",
        details: { option: "q", received: q },
      });
    }
  });

  test("41: an empty histogram has no quantile, rather than a huge or a zero one", () => {
    const histogram = new Histogram();
    expect([histogram.quantile(0.5), histogram.min, histogram.max, histogram.mean]).toEqual([
      NaN,
      NaN,
      NaN,
      NaN,
    ]);
    expect([histogram.count, histogram.sum, histogram.countAtMost(1e9)]).toEqual([0, 0, 0]);
  });
});

describe("what is recorded", () => {
  test("count, sum, mean, minimum and maximum are exact", () => {
    fc.assert(
      fc.property(anyValues, (values) => {
        const histogram = filled(values);
        const sum = values.reduce((total, value) => total + value, 0);
        expect(histogram.count).toBe(values.length);
        expect(histogram.sum).toBe(sum);
        expect(histogram.mean).toBe(sum / values.length);
        expect([histogram.min, histogram.max]).toEqual([Math.min(...values), Math.max(...values)]);
      }),
    );
  });

  test("values above the maximum are clamped and counted, never lost from count or percentiles", () => {
    const histogram = new Histogram({ maxValue: 1000 });
    for (const value of [10, 1000.4, 1001, 5e12, Number.POSITIVE_INFINITY]) histogram.record(value);
    expect([histogram.count, histogram.overRangeCount, histogram.max]).toEqual([5, 3, 1000]);
    expect(histogram.quantile(0.6)).toBe(1000);
    expect(histogram.sum).toBe(4010);
  });

  test("NaN and negative values are refused: counted apart, and nothing else changes", () => {
    const histogram = filled([5]);
    for (const value of [Number.NaN, -1, Number.NEGATIVE_INFINITY]) histogram.record(value);
    expect([histogram.refusedCount, histogram.count, histogram.sum, histogram.min]).toEqual([
      3, 1, 5, 5,
    ]);
  });

  test("fractions are rounded to the nearest whole number", () => {
    const histogram = filled([0.4, 0.5, 7.49]);
    expect([histogram.min, histogram.sum, histogram.max]).toEqual([0, 8, 7]);
  });

  test("a count records a value many times at once, and must be a whole number of at least 1", () => {
    const histogram = new Histogram();
    histogram.record(10, 3);
    expect([histogram.count, histogram.sum]).toEqual([3, 30]);
    for (const count of [0, -1, 1.5, Number.NaN]) {
      expect(
        isBobtailError(
          errorOf(() => histogram.record(1, count)),
          "ERR_BOBTAIL_OPTION",
        ),
      ).toBe(true);
    }
    expect(histogram.count).toBe(3);
  });

  test("a bucket counts on past 32 bits, in recording, adding and decoding", () => {
    const histogram = new Histogram();
    histogram.record(10, 4_294_967_295);
    histogram.record(10);
    histogram.record(20, 4_294_967_290);
    const twice = histogram.clone();
    twice.add(histogram);
    expect(histogram.countAtMost(10)).toBe(4_294_967_296);
    expect(twice.countAtMost(10)).toBe(8_589_934_592);
    expect(Histogram.decode(twice.encode()).countAtMost(20)).toBe(twice.count);
  });

  test("values beyond 2^31 keep the resolution of all others", () => {
    const histogram = new Histogram({ maxValue: Number.MAX_SAFE_INTEGER });
    const values = [2 ** 31 - 1, 2 ** 31, 2 ** 40 + 12_345, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER];
    for (const value of values) histogram.record(value);
    expectQuantiles(histogram, values);
    expect(histogram.overRangeCount).toBe(0);
  });

  test("at the edges of what it takes, it is what a plain list of the rounded and clamped values gives", () => {
    const limits = [
      1,
      2,
      1000,
      2 ** 31 - 2,
      2 ** 31 - 1,
      2 ** 31,
      2 ** 31 + 1,
      2 ** 40,
      2 ** 53 - 1,
    ];
    for (const maxValue of limits) {
      const around = [maxValue, 2 ** 31 - 1, 2 ** 31];
      const edges = [0, 0.25, 0.5, 1, NaN, -1, -0.25, -0, Infinity, -Infinity].concat(
        around.flatMap((edge) => [edge - 1, edge - 0.75, edge - 0.5, edge, edge + 0.25, edge + 1]),
      );
      const together = new Histogram({ maxValue });
      for (const value of edges) {
        for (const count of [1, 3]) {
          const alone = new Histogram({ maxValue });
          alone.record(value, count);
          const expected = plain(new Array<number>(count).fill(value), maxValue);
          expect(seen(alone), `${count} x ${value} of at most ${maxValue}`).toEqual(expected);
        }
        together.record(value);
      }
      expect(seen(together), `all edges of ${maxValue}`).toEqual(plain(edges, maxValue));
    }
  });

  test("options out of range are refused by name", () => {
    for (const maxValue of [0, 1.5, -1, Number.NaN, 2 ** 53])
      expect(errorOf(() => new Histogram({ maxValue }))).toMatchObject({
        details: { option: "maxValue" },
      });
    expect(errorOf(() => new Histogram({ subBucketsPerOctave: 100 as 128 }))).toMatchObject({
      details: { option: "subBucketsPerOctave", received: 100 },
    });
  });
});

describe("counts for cumulative buckets", () => {
  test("the count at a bound differs from the exact one only by values within the resolution of the bound", () => {
    fc.assert(
      fc.property(anyValues, anyValue, (values, bound) => {
        const counted = filled(values).countAtMost(bound);
        const least = values.filter((value) => value <= bound * (1 - 1 / 128)).length;
        const most = values.filter((value) => value <= bound * (1 + 1 / 128)).length;
        expect(counted).toBeGreaterThanOrEqual(least);
        expect(counted).toBeLessThanOrEqual(most);
      }),
    );
  });

  test("the count never falls as the bound grows, and at the q-quantile holds a share of q", () => {
    fc.assert(
      fc.property(anyValues, fc.array(anyValue), (values, bounds) => {
        const histogram = filled(values);
        const counts = bounds.sort((a, b) => a - b).map((bound) => histogram.countAtMost(bound));
        expect(counts).toEqual([...counts].sort((a, b) => a - b));
        for (const q of [0.01, 0.5, 0.93, 1]) {
          const share = histogram.countAtMost(histogram.quantile(q)) / values.length;
          expect(share).toBeGreaterThanOrEqual(q - 1e-12);
        }
      }),
    );
  });

  test("values over range are counted at Infinity alone", () => {
    const histogram = new Histogram({ maxValue: 1000 });
    for (const value of [10, 1000, 2000]) histogram.record(value);
    expect([900, 1000, 1e9, Number.POSITIVE_INFINITY].map((v) => histogram.countAtMost(v))).toEqual(
      [1, 2, 2, 3],
    );
    const coarse = new Histogram({ maxValue: 1003 });
    for (const value of [10, 2000]) coarse.record(value);
    expect([1002, 1003].map((v) => coarse.countAtMost(v))).toEqual([1, 1]);
  });
});

/** What a histogram says of its values, and what of them is exact: all but the quantiles between the extremes. */
function seen(histogram: Histogram): Record<string, number> {
  const { count, sum, min, max, overRangeCount, refusedCount } = histogram;
  const atMost = histogram.countAtMost(Infinity);
  return { count, sum, min, max, overRangeCount, refusedCount, atMost };
}

/** The same of a plain list; `+ 0`, since a minus zero is a zero. */
function plain(values: readonly number[], maxValue: number): Record<string, number> {
  const taken = values.filter((value) => value >= 0).map((value) => Math.round(value) + 0);
  const kept = taken.map((whole) => Math.min(whole, maxValue));
  return {
    count: kept.length,
    sum: kept.reduce((sum, whole) => sum + whole, 0),
    min: kept.length === 0 ? NaN : Math.min(...kept),
    max: kept.length === 0 ? NaN : Math.max(...kept),
    overRangeCount: taken.filter((whole) => whole > maxValue).length,
    refusedCount: values.length - taken.length,
    atMost: kept.length,
  };
}
