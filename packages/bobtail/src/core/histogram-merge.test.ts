import fc from "fast-check";
import { expect, test } from "vitest";
import { isBobtailError } from "./errors.ts";
import { Histogram } from "./histogram.ts";
import {
  anyValues,
  errorOf,
  expectQuantiles,
  filled,
  QUANTILES,
  resolution,
} from "./histogram-values.testbed.ts";
import { seededRng } from "./rng.ts";

test("a merged histogram equals the one that saw everything", () => {
  fc.assert(
    fc.property(anyValues, anyValues, resolution, (a, b, subBuckets) => {
      const merged = filled(a, subBuckets);
      merged.add(filled(b, subBuckets));
      expect(merged.encode()).toEqual(filled([...a, ...b], subBuckets).encode());
    }),
  );
});

test("subtracting an earlier state leaves the quantiles of what came since", () => {
  fc.assert(
    fc.property(anyValues, anyValues, (before, since) => {
      const histogram = filled(before);
      const earlier = histogram.clone();
      for (const value of since) histogram.record(value);
      histogram.subtract(earlier);
      expect(histogram.count).toBe(since.length);
      expectQuantiles(histogram, since);
      histogram.subtract(histogram.clone());
      expect(histogram.encode()).toEqual(new Histogram().encode());
    }),
  );
});

test("subtracting what was never added throws and changes nothing", () => {
  const histogram = filled([1, 2, 3]);
  const bytes = histogram.encode();
  expect(errorOf(() => histogram.subtract(filled([1, 9])))).toMatchObject({
    code: "ERR_BOBTAIL_OPTION",
  });
  expect(histogram.encode()).toEqual(bytes);
});

test("histograms of different shapes do not mix", () => {
  const fine = filled([1]);
  const coarse = filled([1], 32);
  expect(errorOf(() => fine.add(coarse))).toMatchObject({ code: "ERR_BOBTAIL_OPTION" });
  expect(errorOf(() => fine.subtract(new Histogram({ maxValue: 10 })))).toBeDefined();
});

test("a clone and a reset leave nothing shared behind", () => {
  const histogram = filled([1, 2]);
  const copy = histogram.clone();
  histogram.reset();
  copy.record(3);
  expect([histogram.count, copy.count]).toEqual([0, 3]);
  expect(histogram.encode()).toEqual(new Histogram().encode());
});

test("decoding gives back everything that was encoded, in a few bytes a filled bucket", () => {
  fc.assert(
    fc.property(anyValues, resolution, (values, subBuckets) => {
      const histogram = filled(values, subBuckets);
      histogram.record(-1);
      histogram.record(1e15, 2);
      const bytes = histogram.encode();
      const back = Histogram.decode(bytes);
      expect(back.encode()).toEqual(bytes);
      expect(bytes.length).toBeLessThan(60 + 5 * values.length);
      expect([back.count, back.sum, back.min, back.max]).toEqual([
        histogram.count,
        histogram.sum,
        histogram.min,
        histogram.max,
      ]);
      expect([back.overRangeCount, back.refusedCount]).toEqual([2, 1]);
      for (const q of QUANTILES) expect(back.quantile(q)).toBe(histogram.quantile(q));
    }),
  );
});

test("a decoded histogram can be merged and recorded into", () => {
  const back = Histogram.decode(filled([5, 500]).encode());
  back.add(filled([50_000]));
  back.record(7);
  expect(back.encode()).toEqual(filled([5, 500, 50_000, 7]).encode());
});

test("hostile bytes give an error that names the place, or a histogram that adds up, never anything else", () => {
  const rng = seededRng(41);
  const good = filled([1, 1, 300, 70_000, 2_000_000_000]).encode();
  const check = (bytes: Uint8Array): void => {
    let back: Histogram;
    try {
      back = Histogram.decode(bytes);
    } catch (error) {
      expect(isBobtailError(error, "ERR_BOBTAIL_OPTION")).toBe(true);
      return;
    }
    expect(back.encode()).toEqual(bytes);
    if (back.count > 0) expect(back.quantile(0.5)).toBeLessThanOrEqual(back.maxValue);
  };
  for (let i = 0; i < good.length; i++) {
    expect(() => Histogram.decode(good.subarray(0, i))).toThrow(/before byte/);
    for (let value = 0; value < 256; value += 5) check(Uint8Array.from(good).fill(value, i, i + 1));
  }
  for (let i = 0; i < 3000; i++)
    check(Uint8Array.from({ length: 1 + rng.below(80) }, () => rng.below(256)));
  expect(() => Histogram.decode(Uint8Array.from([...good, 0]))).toThrow(/no bytes after/);
  const clamped = new Histogram({ maxValue: 1000 });
  clamped.record(2000);
  const bytes = clamped.encode();
  expect(bytes[4]).toBe(1);
  expect(() => Histogram.decode(bytes.fill(2, 4, 5))).toThrow(/over-range values in the top/);
  expect(() => Histogram.decode("aaaa" as unknown as Uint8Array)).toThrow(/a Uint8Array/);
});
