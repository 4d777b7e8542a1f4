import type { DelayRule } from "./latency-class.ts";

/** How far one estimate may move the delay. Up means fewer copies and is harmless; down is slower, against noise. */
const MAX_RISE = 2;
const MAX_FALL = 1.5;
/** The share of the budget that `auto` plans to spend; the rest is for early failures and bad moments. */
const PLANNED_SHARE = 0.7;

export interface AdaptiveDelayOptions {
  /** In [0, 1]; 1: never. */
  readonly quantile: number;
  readonly floorMs: number;
  readonly ceilingMs: number;
  readonly minSamples: number;
}

/** A quantile of the class's primary latencies between a floor and a ceiling, slow to move; Infinity while unknown. */
export function adaptiveDelay(options: AdaptiveDelayOptions): DelayRule {
  const { quantile, floorMs, ceilingMs, minSamples } = options;
  const initialDelayMs = Number.POSITIVE_INFINITY;
  if (quantile >= 1) return { minSamples, initialDelayMs };
  return {
    minSamples,
    initialDelayMs,
    floorMs,
    nextDelayMs(latencies, delayMs) {
      const known = delayMs < Number.POSITIVE_INFINITY;
      // Hidden by censoring, it is no less than the longest time seen, and no reason to hedge sooner than now.
      const hiddenMs = () => Math.max(known ? delayMs : 0, latencies.longestMs);
      const targetMs = quantile <= 0 ? 0 : (latencies.typicalQuantileMs(quantile) ?? hiddenMs());
      const steadyMs = known
        ? Math.min(Math.max(targetMs, delayMs / MAX_FALL), delayMs * MAX_RISE)
        : targetMs;
      return Math.min(Math.max(steadyMs, floorMs), ceilingMs);
    },
  };
}

/**
 * The quantile at which the expected extra copies are 0.7 of the budget.
 *
 * A share p of the calls outlives the delay and gets a second copy; a third is sent only when both have
 * outlived it, p x p at most, and so on: p + p^2 + ... + p^maxCopies = 0.7 x extraRatio.
 * A budget that affords every copy gives 0, one that affords none gives 1.
 */
export function autoQuantile(extraRatio: number, maxCopies: number): number {
  const target = PLANNED_SHARE * extraRatio;
  if (target >= maxCopies) return 0;
  let low = 0;
  let high = 1;
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    let copies = 0;
    for (let k = 1; k <= maxCopies; k++) copies += middle ** k;
    if (copies <= target) low = middle;
    else high = middle;
  }
  return 1 - low;
}
