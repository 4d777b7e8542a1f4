/** A mean of independent values and where the true one is, with 95 % confidence. Not known (NaN) from fewer than two. */
export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

/** Student's interval. Values that are no numbers are left out. */
export function intervalOf(values: readonly number[]): Interval {
  const known = values.filter((value) => !Number.isNaN(value));
  const count = known.length;
  const mean = known.reduce((sum, value) => sum + value, 0) / count;
  if (count < 2) return { mean, low: Number.NaN, high: Number.NaN, count };
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const half = studentQuantile(count - 1) * Math.sqrt(squares / (count - 1) / count);
  return { mean, low: mean - half, high: mean + half, count };
}

/** The first few exactly; a series is not good enough there. */
const EXACT = [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469];

/**
 * The 0.975 quantile of Student's t, to 0.1 %.
 * Source: Cornish & Fisher's expansion, in Abramowitz & Stegun, "Handbook of Mathematical Functions", 26.7.5.
 */
function studentQuantile(degrees: number): number {
  const exact = EXACT[degrees - 1];
  if (exact !== undefined) return exact;
  const z = 1.959964;
  const g1 = (z ** 3 + z) / 4;
  const g2 = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const g3 = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + g1 / degrees + g2 / degrees ** 2 + g3 / degrees ** 3;
}
