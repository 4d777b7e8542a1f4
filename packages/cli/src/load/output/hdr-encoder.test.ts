import { inflateSync } from "node:zlib";
import { Histogram } from "bobtail/engine";
import fc from "fast-check";
import { decodeFromCompressedBase64 } from "hdr-histogram-js";
import { expect, test } from "vitest";
import { decodeHdr } from "../../plan/hdr-decoder.ts";
import { encodeHdr } from "./hdr-encoder.ts";

function histogramOf(values: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

function decoded(bytes: Uint8Array): [value: number, count: number][] {
  const found: [number, number][] = [];
  decodeHdr(bytes, (value, count) => found.push([value, count]));
  return found;
}

test("what our reader reads back are the same counts, within three digits of our own buckets", () => {
  const value = fc.oneof(fc.nat(3_000), fc.nat(5_000_000), fc.nat(3_600_000_000));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 200 }), (values) => {
      const histogram = histogramOf(values);
      const back = new Histogram();
      for (const [v, count] of decoded(encodeHdr(histogram))) back.record(v, count);
      expect(back.count).toBe(values.length);
      if (values.length === 0) return;
      for (const q of [0, 0.25, 0.5, 0.9, 0.99, 1]) {
        const expected = histogram.quantile(q);
        expect(Math.abs(back.quantile(q) - expected)).toBeLessThanOrEqual(1 + expected / 100);
      }
    }),
  );
});

test("values below 256 and their counts are exact, in rising order, with gaps of one and of many", () => {
  const histogram = histogramOf([0, 2, 2, 255]);
  histogram.record(7, 2 ** 40);
  expect(decoded(encodeHdr(histogram))).toEqual([
    [0, 1],
    [2, 2],
    [7, 2 ** 40],
    [255, 1],
  ]);
});

test("the bytes are those of the published format: cookies, header, counters", () => {
  const bytes = encodeHdr(histogramOf([1, 1, 3]));
  const base64 = Buffer.from(bytes).toString("base64");
  expect(base64.slice(0, 8)).toBe("HISTFAAA");
  const plain = inflateSync(bytes.subarray(8));
  expect(plain.toString("hex")).toBe(
    [
      "1c849313", // V2, words of 8 bytes
      "00000004", // bytes of counters
      "00000000", // not shifted
      "00000003", // digits
      "0000000000000001", // lowest value
      "00000000d693a400", // highest value: an hour of microseconds
      "3ff0000000000000", // counts are whole
      "00", // a zero at 0
      "04", // two at 1
      "00", // a zero at 2
      "02", // one at 3
    ].join(""),
  );
});

test("an empty histogram is one without counters", () => {
  expect(decoded(encodeHdr(new Histogram()))).toEqual([]);
});

test("another implementation of the format reads the same values from it", () => {
  const values = fc.array(fc.integer({ min: 0, max: 3_600_000_000 }), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(values, (all) => {
      const histogram = histogramOf(all);
      const base64 = Buffer.from(encodeHdr(histogram)).toString("base64");
      const theirs = decodeFromCompressedBase64(base64);
      expect(theirs.totalCount).toBe(histogram.count);
      for (const q of [0.01, 0.5, 0.9, 0.99, 1]) {
        const ours = histogram.quantile(q);
        // Each holds a value to its own bucket: half a percent of it at most in ours, a thousandth in theirs.
        expect(Math.abs(theirs.getValueAtPercentile(100 * q) - ours)).toBeLessThanOrEqual(
          1 + ours * 0.006,
        );
      }
    }),
  );
});
