import { checkOption } from "../core/errors.ts";
import type { LatencyLaw } from "./latency-law.ts";

/**
 * Which order statistic a quantile is: `ceil(q n)` (default), the smallest value that at least that share
 * does not exceed; or `floor(q n) + 1`, as the index `int(q n)` into a sorted list gives.
 */
export type QuantileConvention = "ceil" | "int";

/** Undoes the rounding of `q * n`: 0.07 x 100 is 7.000000000000001 in doubles, and means the seventh. */
const RANK_SLACK: number = 1 - 4 * Number.EPSILON;

/**
 * Measured latencies as a law: sorted values with cumulative weights. Made by `empirical`,
 * `empiricalFromHistogram`, `empiricalFromBuckets`, `empiricalFromCensored` or `empiricalFromLaw`.
 *
 * Where part of the weight lies beyond every value (censored, or above the last bucket) the survival
 * function stays above 0 and the quantiles in that part are Infinity: not known, and long.
 */
export class Empirical implements LatencyLaw {
  /** Distinct values in rising order, ms. */
  readonly valuesMs: Float64Array;
  /** Weight of the values up to and with each. */
  readonly cumulative: Float64Array;
  /** All weight, that beyond the last value included. */
  readonly totalWeight: number;
  /** Measurements that stand behind it: what confidence depends on. */
  readonly count: number;

  constructor(parts: {
    readonly valuesMs: Float64Array;
    readonly cumulative: Float64Array;
    readonly totalWeight: number;
    readonly count: number;
  }) {
    this.valuesMs = parts.valuesMs;
    this.cumulative = parts.cumulative;
    this.totalWeight = parts.totalWeight;
    this.count = parts.count;
  }

  get minMs(): number {
    return this.valuesMs[0] as number;
  }

  /** The largest known value. */
  get maxMs(): number {
    return this.valuesMs[this.valuesMs.length - 1] as number;
  }

  /** Share of the weight that lies beyond the largest known value; 0 for plain samples. */
  get beyondRatio(): number {
    return 1 - (this.cumulative[this.cumulative.length - 1] as number) / this.totalWeight;
  }

  /** Infinity where part of the weight lies beyond every value. */
  get meanMs(): number {
    if (this.beyondRatio > 1e-12) return Number.POSITIVE_INFINITY;
    let sum = 0;
    let before = 0;
    for (let i = 0; i < this.valuesMs.length; i++) {
      const upTo = this.cumulative[i] as number;
      sum += (this.valuesMs[i] as number) * (upTo - before);
      before = upTo;
    }
    return sum / this.totalWeight;
  }

  /** Share strictly above `tMs`; O(log n). */
  survival(tMs: number): number {
    const index = lastAtMost(this.valuesMs, tMs);
    if (index < 0) return 1;
    // The difference of whole counts is exact; that of shares is not: 1 - 0.95 is more than 0.05.
    return (this.totalWeight - (this.cumulative[index] as number)) / this.totalWeight;
  }

  /** Throws `ERR_BOBTAIL_OPTION` outside [0, 1]: 95 is a percentage. Infinity where it is not known. */
  quantile(q: number, convention: QuantileConvention = "ceil"): number {
    checkOption({ q }, "a quantile in [0, 1]", q >= 0 && q <= 1);
    const ideal = q * this.totalWeight;
    // Ranks are whole where weights are counts; elsewhere the weight itself is the rank.
    const rank =
      convention === "int" ? Math.min(this.totalWeight, Math.floor(ideal) + 1) : ideal * RANK_SLACK;
    let low = -1;
    let high = this.valuesMs.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.cumulative[middle] as number) >= rank) high = middle;
      else low = middle;
    }
    return high === this.valuesMs.length
      ? Number.POSITIVE_INFINITY
      : (this.valuesMs[high] as number);
  }

  /** The value of that rank among `count` measurements, from 1. */
  atRank(rank: number): number {
    return this.quantile(Math.min(1, Math.max(0, rank / this.count)));
  }
}

/** Index of the last value that is at most `x`; -1 when none is. */
function lastAtMost(values: Float64Array, x: number): number {
  let low = -1;
  let high = values.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) <= x) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * Latencies as they were measured, in any order; copied. O(n log n).
 *
 * Throws `ERR_BOBTAIL_OPTION` when there is none, or one that is NaN, negative or infinite.
 */
export function empirical(valuesMs: ArrayLike<number>): Empirical {
  checkOption({ valuesMs: valuesMs.length }, "at least one latency", valuesMs.length > 0);
  const sorted = Float64Array.from(valuesMs).sort();
  checkLatency(sorted[0] as number);
  // A typed array sorts NaN to its end.
  checkLatency(sorted[sorted.length - 1] as number);
  const values: Float64Array = new Float64Array(sorted.length);
  const cumulative: Float64Array = new Float64Array(sorted.length);
  let size = 0;
  for (let i = 0; i < sorted.length; i++) {
    const value = sorted[i] as number;
    if (size === 0 || values[size - 1] !== value) size++;
    values[size - 1] = value;
    cumulative[size - 1] = i + 1;
  }
  return new Empirical({
    valuesMs: values.slice(0, size),
    cumulative: cumulative.slice(0, size),
    totalWeight: sorted.length,
    count: sorted.length,
  });
}

export function checkLatency(latencyMs: number): void {
  checkOption(
    { latencyMs },
    "a number in [0, Infinity)",
    latencyMs >= 0 && latencyMs < Number.POSITIVE_INFINITY,
  );
}
