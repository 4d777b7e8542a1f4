import { showCount, showPercent } from "../plan/figures.ts";
import { FAILED_LIMITS, RATIO_LIMITS } from "./grade.ts";
import type { Percentile, TrialCell, TrialReport } from "./trial-report.ts";

/** From here on a program of one thread makes its requests wait for itself. */
const BUSY_CORES = 0.7;

/** `92.1`, `>=2,000` where requests were given up below it, `never` among the failed, `-` of too few; in ms. */
export function showPercentile(percentile: Percentile): string {
  if (percentile === undefined) return "-";
  if (percentile === "unbounded") return "never";
  return `${percentile.bound === "at-least" ? ">=" : ""}${showTime(percentile.ms)}`;
}

/** In ms, without the unit. */
export function showTime(ms: number | undefined): string {
  if (ms === undefined || Number.isNaN(ms)) return "-";
  if (ms === Number.POSITIVE_INFINITY) return "never";
  return ms < 99.95 ? ms.toFixed(1) : showCount(ms);
}

/** A cell of the matrix: grade and p99, or what there is instead. */
export function showCell(cell: TrialCell | undefined): string {
  if (cell === undefined) return "";
  switch (cell.state) {
    case "graded":
      return `${cell.grade} ${showHeadline(cell)}`;
    case "died":
      return `${cell.grade} died`;
    case "not-valid":
      return "not valid";
    case "not-started":
      return "not started";
    case "stopped":
      return "stopped";
  }
}

/** A p99 among the failures says little: their share says more. */
function showHeadline({ figures }: TrialCell): string {
  if (figures === undefined) return "";
  return figures.p99 === "unbounded"
    ? `${showPercent(figures.failedRatio)} fail`
    : `${showPercentile(figures.p99)} ms`;
}

/** A share above that of the requests: `+4.9 %`, `0.0 %`. */
export function showExtra(ratio: number): string {
  if (Math.abs(ratio) < 0.0005) return "0.0 %";
  return `${ratio > 0 ? "+" : "-"}${(Math.abs(ratio) * 100).toFixed(1)} %`;
}

export function showCores(cores: number | undefined): string {
  return cores === undefined ? "-" : cores.toFixed(2);
}

/** How it was measured, in one sentence. */
export function methodOf({ setup, scenarios }: TrialReport): string {
  const { backends, workers, meanMs, loadRatio, durationMs, seed } = setup;
  const rates = scenarios.map(({ ratePerSec }) => Math.round(ratePerSec));
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  const rate = low === high ? showCount(low) : `${showCount(low)} to ${showCount(high)}`;
  return (
    `${backends} backends of ${workers} workers, ${meanMs} ms mean service time, at ` +
    `${Math.round(loadRatio * 100)} % of what they can serve: ${rates.length === 0 ? "no" : rate} requests a second at ` +
    `random (Poisson) for ${Number((durationMs / 1_000).toPrecision(3))} s, each timed from its planned send. Seed ${seed}.`
  );
}

/** What must be said about the run as a whole; one paragraph each. */
export function notesOf(report: TrialReport): readonly string[] {
  const { cells, plannedCells, partial } = report;
  const notes: string[] = [];
  if (partial)
    notes.push(`PARTIAL: stopped after ${cells.filter(isWhole).length} of ${plannedCells} cells.`);
  const slowest = Math.max(1, ...cells.map((cell) => cell.factor));
  if (slowest > 1)
    notes.push(
      `This machine is slow or busy: in some cells all times were up to ${slowest} times longer and the rate as much ` +
        "lower, so that the load is the same. Times here are divided by it.",
    );
  for (const cell of cells.filter((one) => one.state !== "graded" && one.why !== ""))
    notes.push(`${cell.target}, ${cell.scenario}, ${showCell(cell)}: ${cell.why}`);
  for (const { target, scenario, figures } of cells)
    if ((figures?.cpu.target ?? 0) > BUSY_CORES)
      notes.push(
        `${target}, ${scenario}: the target used ${showCores(figures?.cpu.target)} cores. Where one thread of it had no more ` +
          "to give, its times are of that and not of its choices: --time-scale 4 tells.",
      );
  for (const { name, warnings } of report.targets)
    for (const warning of warnings) notes.push(`${name}: ${warning}`);
  return notes;
}

function isWhole(cell: TrialCell): boolean {
  return cell.state !== "stopped";
}

/** How to read a grade, in a few lines. */
export function legend(): string {
  const times = RATIO_LIMITS.join(", ");
  const shares = FAILED_LIMITS.map((ratio) => Number((ratio * 100).toPrecision(3))).join(", ");
  return (
    `Grades are the distance from an ideal balancer before the same backends ("ideal"): p99 and p99.9 with failures ` +
    `as infinite up to ${times} times the ideal's, and failures beyond the ideal's up to ${shares} % of the ` +
    "requests, give A to E; the worst of the three decides, on what the sample proves at 95 %. F is worse than that."
  );
}
