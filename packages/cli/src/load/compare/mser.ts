const BATCH = 5;

/**
 * How many values at the start to leave out, so that the mean of the rest is known best; undefined: as many as the rule
 * may, half of them, so there is no telling where the start ends.
 *
 * Source: White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997 (MSER), over means of five
 * as in White, Cobb & Spratt, Winter Simulation Conference 2000 (MSER-5).
 */
export function mser5(values: readonly number[]): number | undefined {
  const means = Array.from({ length: Math.floor(values.length / BATCH) }, (_, i) =>
    meanOf(values.slice(i * BATCH, (i + 1) * BATCH)),
  );
  const most = Math.floor(means.length / 2);
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let cut = 0; cut <= most; cut++) {
    const rest = means.slice(cut);
    const mean = meanOf(rest);
    const error = rest.reduce((sum, value) => sum + (value - mean) ** 2, 0) / rest.length ** 2;
    if (error < least) [best, least] = [cut, error];
  }
  return best === most && best > 0 ? undefined : best * BATCH;
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
