import { Histogram } from "bobtail/engine";
import { showMs, showPercent } from "../../plan/figures.ts";
import { failedCount, type LoadInterval } from "../load-report.ts";
import type { RunRecord } from "../output/run-record.ts";

const MAX_FAILED_RATIO = 0.1;
/** A queue that does not drain makes the last third of a run that much slower than the first. */
const GROWTH = 1.5;
const MUCH_SLOWER = 5;
const LEAST_MS = 5;

/**
 * Whether a run was clearly beyond what the target can serve, and why: many failed, or its queue kept growing and its
 * median is far above that of the lowest rate. Undefined where it was not.
 */
export function pastSaturation(run: RunRecord, lowest: RunRecord): string | undefined {
  const { ledger, all } = run.measured;
  const failedRatio =
    (failedCount(ledger) + ledger.openAtEnd) / Math.max(1, ledger.planned - ledger.unsent);
  if (failedRatio > MAX_FAILED_RATIO) return `past saturation: ${showPercent(failedRatio)} failed`;
  const third = Math.max(1, Math.floor(run.intervals.length / 3));
  const early = medianMs(run.intervals.slice(0, third));
  const late = medianMs(run.intervals.slice(-third));
  const base = medianMs(lowest.intervals);
  const median = all.count === 0 ? 0 : all.quantile(0.5) / 1_000;
  const isGrowing = run.intervals.length >= 3 && late > GROWTH * early;
  return isGrowing && median > Math.max(MUCH_SLOWER * base, base + LEAST_MS)
    ? `past saturation: the median grew from ${showMs(early)} to ${showMs(late)} within the run`
    : undefined;
}

function medianMs(intervals: readonly LoadInterval[]): number {
  const all = new Histogram();
  for (const interval of intervals) all.add(interval.all);
  return all.count === 0 ? 0 : all.quantile(0.5) / 1_000;
}
