import { checkOption } from "../core/errors.ts";
import { binomialQuantile } from "./binomial.ts";
import type { Empirical } from "./empirical.ts";
import { normalQuantile } from "./special-functions.ts";

/** Two values with the truth between them. */
export interface Interval {
  readonly low: number;
  /** `undefined`: the sample has no upper bound for it. */
  readonly high: number | undefined;
}

export interface OrderStatistic {
  /** Independent measurements; a whole number >= 1. */
  readonly count: number;
  /** In (0, 1). */
  readonly quantile: number;
  /** Chance that the interval holds the truth; in (0, 1), default 0.95. */
  readonly confidence?: number | undefined;
}

/**
 * Ranks, from 1, of the two order statistics with the true quantile between them, whatever the law.
 *
 * `low` is 0 where there is no lower bound (the sample is too small: 0 is the bound), `high` is undefined where there is no upper one.
 * Right for independent measurements; stalls that hit many at once make it too narrow.
 * Source: David & Nagaraja, "Order Statistics", 3rd ed., 2003, section 7.1.
 */
export function orderStatisticRanks(statistic: OrderStatistic): Interval {
  const { count, quantile, confidence = 0.95 } = statistic;
  checkOption({ count }, "a whole number >= 1", Number.isSafeInteger(count) && count >= 1);
  checkOption({ quantile }, "a quantile in (0, 1)", quantile > 0 && quantile < 1);
  checkOption({ confidence }, "in (0, 1)", confidence > 0 && confidence < 1);
  const miss = (1 - confidence) / 2;
  const law = { trials: count, ratio: quantile };
  const low = binomialQuantile(miss, law);
  const high = binomialQuantile(1 - miss, law) + 1;
  return { low, high: high > count ? undefined : high };
}

/** The interval of a measured quantile, in ms. */
export function quantileInterval(
  latency: Empirical,
  { quantile, confidence }: Omit<OrderStatistic, "count">,
): Interval {
  const ranks = orderStatisticRanks({ count: latency.count, quantile, confidence });
  const high = ranks.high === undefined ? Number.POSITIVE_INFINITY : latency.atRank(ranks.high);
  return {
    low: ranks.low < 1 ? 0 : latency.atRank(ranks.low),
    high: high === Number.POSITIVE_INFINITY ? undefined : high,
  };
}

/** Fewest measurements whose two-sided interval of that quantile is finite: 368 for the p99 at 95 %. */
export function samplesForInterval(quantile: number, confidence: number = 0.95): number {
  checkOption({ quantile }, "a quantile in (0, 1)", quantile > 0 && quantile < 1);
  checkOption({ confidence }, "in (0, 1)", confidence > 0 && confidence < 1);
  return Math.ceil(Math.log((1 - confidence) / 2) / Math.log(quantile));
}

/** Fewest measurements whose largest is above the true quantile with that confidence: 299 for the p99 at 95 %. */
export function samplesForUpperBound(quantile: number, confidence: number = 0.95): number {
  checkOption({ quantile }, "a quantile in (0, 1)", quantile > 0 && quantile < 1);
  checkOption({ confidence }, "in (0, 1)", confidence > 0 && confidence < 1);
  return Math.ceil(Math.log(1 - confidence) / Math.log(quantile));
}

/** Measurements that tell the share beyond a quantile to +- `toleranceRatio` of itself, 95 times in 100. */
export function samplesForTail(quantile: number, toleranceRatio: number): number {
  checkOption({ quantile }, "a quantile in (0, 1)", quantile > 0 && quantile < 1);
  checkOption({ toleranceRatio }, "a ratio > 0", toleranceRatio > 0);
  // 1.96, as it is always written.
  return Math.ceil((1.96 / toleranceRatio) ** 2 * (quantile / (1 - quantile)) * (1 - 1e-12));
}

/** A percentile is printed when at least this many measurements are expected beyond it. */
export const MIN_EXCEEDANCES = 3.7;

/** Whether a sample supports a quantile: below, it is not to be printed. */
export function isSupported(count: number, quantile: number): boolean {
  return count * (1 - quantile) >= MIN_EXCEEDANCES * (1 - 1e-9);
}

/**
 * Interval of a share seen as `successes` of `trials`.
 *
 * Source: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927.
 */
export function wilsonInterval(
  successes: number,
  trials: number,
  confidence: number = 0.95,
): { low: number; high: number } {
  checkOption({ trials }, "a number >= 1", trials >= 1);
  checkOption({ successes }, `in [0, ${trials}]`, successes >= 0 && successes <= trials);
  checkOption({ confidence }, "in (0, 1)", confidence > 0 && confidence < 1);
  const z = normalQuantile((1 + confidence) / 2);
  const share = successes / trials;
  const scale = 1 + (z * z) / trials;
  const middle = (share + (z * z) / (2 * trials)) / scale;
  const half =
    (z / scale) * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials));
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}
