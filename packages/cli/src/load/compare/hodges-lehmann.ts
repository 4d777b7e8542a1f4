import type { Quantity } from "./quantity.ts";

/** How much more `b` is than `a`: 0.2 is 20 % more, or 0.2 more, by the scale. */
export interface Shift {
  /** Undefined: so many runs are infinite on both sides that it may be anything. */
  readonly estimate: number | undefined;
  /** Of a ratio at least -1; of a difference at least -Infinity. */
  readonly low: number;
  /** At most Infinity. */
  readonly high: number;
}

export interface ShiftOptions {
  readonly scale: Quantity["scale"];
  /** Ordered differences outside the interval at either end, as `leftOutDifferences` says; 0: no interval. */
  readonly leftOut: number;
}

/**
 * The Hodges-Lehmann shift, the median of all differences between a value of `b` and one of `a`, with its interval from the
 * exact Mann-Whitney distribution: right whatever the law, and with ties on the safe side. Of ratios the differences are of
 * logarithms, so the estimate is the median of all b / a.
 *
 * Two infinite values say nothing of each other: their difference is taken for as small and as large as can be, whichever
 * makes the interval wider.
 * Source: Hodges & Lehmann, Ann. Math. Statist. 34, 1963; Hollander & Wolfe, "Nonparametric Statistical Methods", 4.3.
 */
export function hodgesLehmann(
  a: readonly number[],
  b: readonly number[],
  { scale, leftOut }: ShiftOptions,
): Shift {
  const lowReading = differences(a, b, { scale, unknown: Number.NEGATIVE_INFINITY });
  const highReading = differences(a, b, { scale, unknown: Number.POSITIVE_INFINITY });
  const change = (value: number): number => (scale === "ratio" ? Math.expm1(value) : value);
  const [least, most] = [medianOf(lowReading), medianOf(highReading)];
  return {
    estimate: least === most ? change(least) : undefined,
    low: change(leftOut === 0 ? Number.NEGATIVE_INFINITY : (lowReading[leftOut - 1] as number)),
    high: change(leftOut === 0 ? Number.POSITIVE_INFINITY : (highReading.at(-leftOut) as number)),
  };
}

/** On the scale on which shifts are added: logarithms, or as they are. */
export function onScale(value: number, scale: Quantity["scale"]): number {
  return scale === "ratio" ? Math.log(value) : value;
}

/** Of ascending values. NaN: it lies between -Infinity and Infinity. */
export function medianOf(sorted: ArrayLike<number>): number {
  const low = sorted[(sorted.length - 1) >> 1] as number;
  const high = sorted[sorted.length >> 1] as number;
  if (low === high) return low;
  if (low === Number.NEGATIVE_INFINITY && high < Number.POSITIVE_INFINITY) return low;
  return low + (high - low) / 2;
}

/** All of them, ascending. `unknown` stands for infinite - infinite, and for 0 / 0. */
function differences(
  a: readonly number[],
  b: readonly number[],
  { scale, unknown }: { readonly scale: Quantity["scale"]; readonly unknown: number },
): Float64Array {
  const [from, to] = [a, b].map((side) => side.map((value) => onScale(value, scale)));
  const all = (to ?? []).flatMap((after) => (from ?? []).map((before) => after - before));
  return Float64Array.from(all, (value) => (Number.isNaN(value) ? unknown : value)).sort();
}
