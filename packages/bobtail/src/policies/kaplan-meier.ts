/** Counts of latencies by bucket: those that were seen to end, and those that were still running when last seen. */
export interface LatencyCounts {
  readonly answered: Uint32Array;
  /** Absent: nothing was censored. */
  readonly censored: Uint32Array | undefined;
  /** Every filled bucket is in [lowest, highest]. */
  readonly lowest: number;
  readonly highest: number;
  readonly total: number;
}

/**
 * The first bucket by whose end at most `survivalRatio` of the latencies still run; -1 when that is not
 * known, because too many were censored before it.
 *
 * A censored latency counts as at risk up to its bucket, that one included, and is silent from then on:
 * the product-limit estimate, which is right as long as what censors knows nothing of what is censored.
 * Source: Kaplan & Meier, "Nonparametric Estimation from Incomplete Observations", JASA 53, 1958.
 */
export function kaplanMeierBucket(counts: LatencyCounts, survivalRatio: number): number {
  const { answered, censored, lowest, highest } = counts;
  let atRisk = counts.total;
  let survival = 1;
  for (let bucket = lowest; bucket <= highest; bucket++) {
    const ended = answered[bucket] as number;
    if (ended > 0) {
      survival *= 1 - ended / atRisk;
      // The product of exact fractions is rounded: 0.05 may come out as 0.050000000000000044.
      if (survival <= survivalRatio + 1e-12) return bucket;
    }
    atRisk -= ended + (censored === undefined ? 0 : (censored[bucket] as number));
  }
  return -1;
}
