import type { Column } from "bobtail/sim";
import type { AxisValue } from "./sim-plan.ts";
import type { ReportCell, ReportRow, SimReport } from "./sim-report.ts";

/** A value in the unit of its column's title, with the column's digits; two significant ones where those would show nothing. */
export function showValue(value: number, { unit, digits }: Column): string {
  const shown = unit === "ratio" ? value * 100 : value;
  const isLost = shown !== 0 && Math.abs(shown) < 0.5 * 10 ** -digits;
  return isLost ? shown.toPrecision(1) : shown.toFixed(digits);
}

/** Half of an interval, with the digits of what it belongs to. */
export function showHalf(half: number, { unit, digits }: Column): string {
  return (unit === "ratio" ? half * 100 : half).toFixed(digits);
}

export function unitOf({ unit }: Column): string {
  return unit === "ratio" ? "%" : unit === "ms" ? "ms" : "";
}

/** `p99 ms`, `failed %`, `mean time`. */
export function headingOf(column: Column): string {
  return `${column.title} ${unitOf(column)}`.trim();
}

/** Half of the interval, or undefined where there is none, or where nothing ever happened. */
export function halfOf({ low, high }: ReportCell): number | undefined {
  if (low === undefined || high === undefined || (low === 0 && high === 0)) return undefined;
  return (high - low) / 2;
}

/** A name with its unit, as in JSON and CSV: `p99_ms`, `failed_ratio`. */
export function fieldOf({ key, unit }: Column): string {
  return unit === "number" ? key : `${key}_${unit}`;
}

/** `arrivals.load 0.5`. */
export function pointOf(report: Pick<SimReport, "axes">, at: readonly AxisValue[]): string {
  return report.axes.map(({ path }, i) => `${path} ${showAxisValue(at[i])}`).join(", ");
}

export function showAxisValue(value: AxisValue | undefined): string {
  return String(value ?? "");
}

/** What was run, in one sentence; and what the intervals are made from. */
export function methodOf(report: SimReport): string {
  const { runs, seed, scale, sets } = report;
  const much = scale === 1 ? "" : `, requests x ${scale}`;
  const set = sets.length === 0 ? "" : `, with ${sets.join(", ")}`;
  const times =
    report.columns.length === 0
      ? "Not computed"
      : `${runs === 1 ? "One run, seed" : `${runs} runs of each row, from seed`} ${seed}${much}${set}`;
  const interval =
    report.intervals === "none"
      ? ""
      : ` \u00b1 is half of a 95 % interval between ${report.intervals}.`;
  return `${times}.${interval}`;
}

export function partialOf(report: SimReport): string {
  return `PARTIAL: ended after ${report.doneRuns} of ${report.totalRuns} runs.`;
}

export function hasUnknown(rows: readonly ReportRow[]): boolean {
  return rows.some((row) => Object.values(row.cells).some((cell) => cell.value === null));
}
