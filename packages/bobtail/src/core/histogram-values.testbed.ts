import fc from "fast-check";
import { expect } from "vitest";
import { Histogram } from "./histogram.ts";

export const QUANTILES = [0, 0.001, 0.07, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1];

/** Values over every octave, among them the edges of buckets. */
export const anyValue = fc.oneof(
  fc.nat(300),
  fc.nat(5_000_000),
  fc.integer({ min: 0, max: 3_600_000_000 }),
  fc.integer({ min: 0, max: 31 }).map((octave) => 2 ** octave),
  fc.integer({ min: 1, max: 31 }).map((octave) => 2 ** octave - 1),
);
export const anyValues = fc.array(anyValue, { minLength: 1, maxLength: 300 });
export const resolution = fc.constantFrom(32 as const, 64 as const, 128 as const);

export function filled(
  values: readonly number[],
  subBucketsPerOctave: 32 | 64 | 128 = 128,
): Histogram {
  const histogram = new Histogram({ subBucketsPerOctave });
  for (const value of values) histogram.record(value);
  return histogram;
}

export function exactQuantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = Math.max(1, Math.ceil(q * values.length * (1 - 4 * Number.EPSILON)));
  return sorted[rank - 1] as number;
}

export function expectQuantiles(histogram: Histogram, values: readonly number[]): void {
  const tolerance = 1 / (2 * histogram.subBucketsPerOctave);
  for (const q of QUANTILES) {
    const exact = exactQuantile(values, q);
    expect(Math.abs(histogram.quantile(q) - exact)).toBeLessThanOrEqual(exact * tolerance);
  }
}

export function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
