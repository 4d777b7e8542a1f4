import { isSupported } from "bobtail/plan";
import { intervalOf, type SimResult } from "bobtail/sim";
import { shortened } from "./html-table.ts";
import { pointOf, showAxisValue } from "./sim-figures.ts";
import { countOf, type ReportRow, type SimReport } from "./sim-report.ts";

/** As many as there are colours. */
export const MAX_SERIES = 8;

/** Rows that are drawn as curves, and in words which ones they are. */
export interface ChosenRows {
  readonly rows: readonly { readonly label: string; readonly row: ReportRow }[];
  readonly which: string;
}

/**
 * Rows side by side. Of a sweep of several policies: all of them at its last point; of one policy: evenly spread points.
 */
export function chooseRows(report: SimReport, most: number = MAX_SERIES): ChosenRows {
  const { axes, rows } = report;
  const names = new Set(rows.map((row) => row.name));
  if (axes.length === 0) {
    const chosen = rows.slice(0, most).map((row) => ({ label: shortened(row.name), row }));
    const some = rows.length > most ? `the first ${most} of ${rows.length} rows` : "";
    return { rows: chosen, which: some };
  }
  if (names.size === 1) {
    const chosen = spread(rows, most).map((row) => ({
      label: shortened(row.at.map(showAxisValue).join(", ")),
      row,
    }));
    return { rows: chosen, which: shortened(`by ${axes.map(({ path }) => path).join(", ")}`) };
  }
  const last = axes.map(({ values }) => values[values.length - 1]);
  const atLast = rows.filter((row) => row.at.every((value, i) => value === last[i]));
  const chosen = atLast.slice(0, most).map((row) => ({ label: shortened(row.name), row }));
  return { rows: chosen, which: shortened(`at ${pointOf(report, atLast[0]?.at ?? [])}`) };
}

export function spread(rows: readonly ReportRow[], most: number): readonly ReportRow[] {
  if (rows.length <= most) return rows;
  const step = (rows.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, i) => rows[Math.round(i * step)] as ReportRow);
}

/** A quantile of the latency and, from replications, where it lies. */
export interface TailPoint {
  /** log10(1 / (1 - quantile)): 2 is the p99. */
  readonly nines: number;
  readonly ms: number;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

const STEP = 0.1;
/** The p21: the fastest few are as fast as nothing, and would take half of a log scale. */
export const FIRST_NINES: number = STEP;
const MAX_NINES = 6;

/** From the p21 on, as far as the sample carries. */
export function tailOf({ each, all }: NonNullable<ReportRow["results"]>): TailPoint[] {
  const points: TailPoint[] = [];
  for (let i = 1; i * STEP <= MAX_NINES; i++) {
    const nines = i * STEP;
    const quantile = 1 - 10 ** -nines;
    if (!isSupported(countOf(all), quantile)) break;
    const ms = quantileMs(all, quantile);
    const isCarried = each.length > 1 && each.every((r) => isSupported(countOf(r), quantile));
    const interval = isCarried
      ? intervalOf(each.map((r) => quantileMs(r, quantile)))
      : { low: undefined, high: undefined };
    points.push({ nines, ms, low: interval.low, high: interval.high });
  }
  return points;
}

function quantileMs(r: SimResult, quantile: number): number {
  return (r.root.count > 0 ? r.root : r.latency).quantile(quantile) / 1000;
}
