import type { LoadInterval } from "../load-report.ts";

/** Two values of one bucket are the same to a histogram. */
const SAME_BUCKET_RATIO: number = 1 - 1 / 64;

/**
 * How many separate stretches of time the slowest requests come from: intervals next to each other with a request at
 * or beyond `thresholdMs`, or a failed one, are one episode.
 *
 * Slow requests come in clumps, so a percentile stands on this many observations and not on as many as there were requests.
 */
export function countEpisodes(intervals: readonly LoadInterval[], thresholdMs: number): number {
  let episodes = 0;
  let wasSlow = false;
  for (const { all, infinite } of intervals) {
    const isSlow =
      infinite > 0 || (all.count > 0 && all.max >= thresholdMs * 1_000 * SAME_BUCKET_RATIO);
    if (isSlow && !wasSlow) episodes++;
    wasSlow = isSlow;
  }
  return episodes;
}
