import { checkOption } from "../core/errors.ts";

/** Hedges after a fixed delay, never cancelled and without a budget. Times in mean service times. */
export interface UnguardedHedge {
  /** Above 1 mean service time. */
  readonly delay: number;
}

/**
 * Load above which an unguarded hedge feeds on itself until everything is hedged: d r solves x + ln x = d - 1.
 *
 * Mean field of many single-worker servers with exponential service: h = exp(-d (1 - r (1 + h))) has no solution
 * above it. A fleet of fifty collapses 1 or 2 points earlier by chance.
 */
export function criticalLoad({ delay }: UnguardedHedge): number {
  checkOption({ delay }, "a number > 1", delay > 1);
  let low = 0;
  let high = delay;
  for (let step = 0; step < 100; step++) {
    const x = (low + high) / 2;
    if (x + Math.log(x) < delay - 1) low = x;
    else high = x;
  }
  return low / delay;
}

/** Load above which the extra work of a budget is more than the fleet has: 1 / (1 + b). */
export function budgetCriticalLoad(extraRatio: number): number {
  checkOption({ extraRatio }, "a ratio >= 0", extraRatio >= 0);
  return 1 / (1 + extraRatio);
}

/**
 * Share of requests that an unguarded hedge sends twice at that load, in the stable state; `undefined` above the
 * critical load, where there is none.
 */
export function hedgeEquilibrium({ delay }: UnguardedHedge, loadRatio: number): number | undefined {
  checkOption({ loadRatio }, "a ratio in [0, 1)", loadRatio >= 0 && loadRatio < 1);
  if (loadRatio > criticalLoad({ delay })) return undefined;
  let share = 0;
  // From below the iteration climbs to the smallest, stable, solution.
  for (let step = 0; step < 10_000; step++) {
    const next = Math.exp(-delay * Math.max(0, 1 - loadRatio * (1 + share)));
    if (next - share < 1e-12) return next;
    share = next;
  }
  return share;
}

export interface ResultingLoad {
  /** Without hedges; in [0, 1). */
  readonly loadRatio: number;
  /** Second copies per call. */
  readonly extraRatio: number;
  /** Share of a second copy's work that cancelling the loser saves; in [0, 1], default 0. */
  readonly cancelSavingRatio?: number | undefined;
}

/** r (1 + extra (1 - saving)). */
export function loadWithHedges(load: ResultingLoad): number {
  const { loadRatio, extraRatio, cancelSavingRatio = 0 } = load;
  checkOption({ loadRatio }, "a ratio >= 0", loadRatio >= 0);
  checkOption({ extraRatio }, "a ratio >= 0", extraRatio >= 0);
  const ok = cancelSavingRatio >= 0 && cancelSavingRatio <= 1;
  checkOption({ cancelSavingRatio }, "a ratio in [0, 1]", ok);
  return loadRatio * (1 + extraRatio * (1 - cancelSavingRatio));
}

/** Work that one request can become when each of `layers` tries up to `tries` times: tries^layers. */
export function retryAmplification(tries: number, layers: number): number {
  checkOption({ tries }, "a number >= 1", tries >= 1);
  checkOption({ layers }, "a number >= 0", layers >= 0);
  return tries ** layers;
}

/**
 * Failure rate at which a bucket that loses a token per failure and gains `tokenRatio` per success stands still.
 *
 * Above it, gRPC's throttle comes to stop retries and hedges. Source: gRFC A6.
 */
export function throttleFailureRatio(tokenRatio: number): number {
  checkOption({ tokenRatio }, "a number > 0", tokenRatio > 0);
  return tokenRatio / (1 + tokenRatio);
}
