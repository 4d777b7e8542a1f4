import { checkOption } from "../core/errors.ts";
import { type Empirical, empirical } from "./empirical.ts";

/**
 * Share of calls that are unanswered after the delay, strictly slower than it: the hedges it sends.
 *
 * @param latencies - measured, in the unit of `delay`; at least one.
 * @param delay - >= 0.
 */
export function extraLoad(latencies: ArrayLike<number>, delay: number): number {
  checkOption({ latencies: latencies.length }, "at least one latency", latencies.length > 0);
  let slower = 0;
  for (let i = 0; i < latencies.length; i++) if ((latencies[i] as number) > delay) slower++;
  return slower / latencies.length;
}

/**
 * The smallest measured latency whose extra load, as a delay, is at most `maxExtra`.
 *
 * @param latencies - measured; at least one, in any order and unit.
 * @param maxExtra - hedges per call; in [0, 1]. 0 gives the largest latency: no hedge at all.
 */
export function pickDelay(latencies: ArrayLike<number>, maxExtra: number): number {
  return delayWithin(empirical(latencies), maxExtra);
}

/** {@link pickDelay} for a law that is sorted already. Infinity where the share beyond every value is larger. */
export function delayWithin(latency: Empirical, maxExtra: number): number {
  checkOption({ maxExtra }, "a ratio in [0, 1]", maxExtra >= 0 && maxExtra <= 1);
  const { valuesMs, cumulative, totalWeight } = latency;
  // Whole counts are compared: as shares, 1 - 0.95 is more than 0.05. Weights that are not whole get the slack.
  const most = maxExtra * totalWeight * (1 + 4 * Number.EPSILON) + 1e-12 * totalWeight;
  let low = -1;
  let high = valuesMs.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (totalWeight - (cumulative[middle] as number) <= most) high = middle;
    else low = middle;
  }
  return high === valuesMs.length ? Number.POSITIVE_INFINITY : (valuesMs[high] as number);
}
