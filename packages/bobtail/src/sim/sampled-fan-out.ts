/** A fan-out in which each leaf call is a draw: no queues, so a hedge costs the others nothing. */
export interface FanOutSampling {
  readonly trials: number;
  readonly leaves: number;
  /** A leaf that has not answered by then gets a second copy; ms, default never. */
  readonly delayMs?: number | undefined;
  /** The time of the first copy of a leaf, ms; called for each in order. @param leaf - its number, over all trials. */
  readonly primaryMs: (leaf: number) => number;
  /** The time of the second copy, from when it was sent, ms; called only where one is sent. */
  readonly backupMs: (leaf: number) => number;
}

export interface SampledFanOut {
  /** Of each request, sorted, ms. */
  readonly latenciesMs: Float64Array;
  /** Second copies for each first one. */
  readonly extraRatio: number;
  /** Second copies that answered first, for each one sent. */
  readonly wonRatio: number;
}

export function sampleFanOut(options: FanOutSampling): SampledFanOut {
  const { trials, leaves, delayMs = Number.POSITIVE_INFINITY, primaryMs, backupMs } = options;
  const latenciesMs = new Float64Array(trials);
  let extra = 0;
  let won = 0;
  let leaf = 0;
  for (let trial = 0; trial < trials; trial++) {
    let slowest = 0;
    for (let i = 0; i < leaves; i++, leaf++) {
      let ms = primaryMs(leaf);
      if (ms > delayMs) {
        extra++;
        const hedgedMs = delayMs + backupMs(leaf);
        if (hedgedMs < ms) {
          ms = hedgedMs;
          won++;
        }
      }
      if (ms > slowest) slowest = ms;
    }
    latenciesMs[trial] = slowest;
  }
  latenciesMs.sort();
  return { latenciesMs, extraRatio: extra / (trials * leaves), wonRatio: won / extra };
}

/** The value of rank ceil(q n) of sorted values; NaN when there is none. */
export function nearestRank(sorted: Float64Array, quantile: number): number {
  const rank = Math.ceil(Math.round(quantile * sorted.length * 1e6) / 1e6);
  return sorted[Math.max(0, rank - 1)] ?? Number.NaN;
}

/** The share of sorted values above that. */
export function shareAbove(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return (sorted.length - low) / sorted.length;
}
