import { headlineFigure } from "./percentiles.ts";
import type { RunRecord } from "./run-record.ts";

/** Two values of one bucket are the same to a histogram. */
const SAME_BUCKET_RATIO: number = 1 - 1 / 64;

/**
 * How many separate stretches of time a percentile of all planned requests stands on: intervals next to each other with a
 * request at or beyond it, failed ones among them, are one episode. Undefined: the sample does not support the percentile.
 *
 * Slow requests come in clumps, so a percentile stands on this many observations and not on as many as there were requests.
 */
export function slowEpisodes(
  { measured, intervals }: Pick<RunRecord, "measured" | "intervals">,
  quantile: number,
): number | undefined {
  const figure = headlineFigure(measured, quantile);
  if (figure.kind === "unsupported") return undefined;
  const thresholdMs = figure.kind === "known" ? figure.ms : Number.POSITIVE_INFINITY;
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
