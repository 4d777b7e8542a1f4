import type { Column } from "bobtail/sim";
import { AREA, axes, curve, drawing, type Point, round } from "./chart-frame.ts";
import { linearScale, logScale, nameScale, type Scale, showShort } from "./chart-scale.ts";
import { MAX_SERIES, spread } from "./chart-series.ts";
import { shortened } from "./html-table.ts";
import { headingOf, pointOf, showAxisValue } from "./sim-figures.ts";
import type { ReportRow, SimReport } from "./sim-report.ts";

export interface SweepSeries {
  readonly label: string;
  readonly rows: readonly ReportRow[];
}

/** Of one line; more are not told apart on a page. */
const MAX_POINTS = 50;
/** More dots than this make a line of their own. */
const MAX_DOTS = 120;

/** Lines over the first swept parameter: one for each row of the scenario and each value of the other parameters. */
export function sweepSeries(report: SimReport): SweepSeries[] {
  const groups = new Map<string, ReportRow[]>();
  const rest = report.axes.slice(1);
  for (const row of report.rows) {
    const others = pointOf({ axes: rest }, row.at.slice(1));
    const label = others === "" ? row.name : `${row.name}, ${others}`;
    const group = groups.get(label);
    if (group === undefined) groups.set(label, [row]);
    else group.push(row);
  }
  return [...groups].slice(0, MAX_SERIES).map(([label, rows]) => ({
    label: shortened(label),
    rows: spread(rows, MAX_POINTS),
  }));
}

/** What is drawn: the p99 where there is one, or the first column; and the median, thin, beside it. */
function sweepColumns(report: SimReport): readonly Column[] {
  const named = (key: string) => report.columns.filter((column) => column.key === key);
  const [main = report.columns[0]] = named("p99");
  return main === undefined ? [] : [main, ...(main.key === "p99" ? named("p50") : [])];
}

/** Latency against load, or whatever was swept. */
export function sweepChart(report: SimReport, series: readonly SweepSeries[]): string {
  const columns = sweepColumns(report);
  const [axis] = report.axes;
  const [main] = columns;
  if (axis === undefined || main === undefined) return "";
  const { left, right, top, bottom } = AREA;
  const isNumeric = axis.values.every((value) => typeof value === "number");
  const numbers = axis.values as readonly number[];
  const x = isNumeric
    ? linearScale({ min: Math.min(...numbers), max: Math.max(...numbers), from: left, to: right })
    : nameScale(axis.values.map(showAxisValue), { from: left, to: right });
  const placeOf = (row: ReportRow): number => {
    const value = row.at[0];
    return x.place(isNumeric ? Number(value) : axis.values.indexOf(value ?? ""));
  };
  const y = valueScale(report, columns, { from: bottom, to: top });
  const dotted = series.reduce((sum, { rows }) => sum + rows.length, 0) <= MAX_DOTS;
  const body = series.map(({ rows }, i) => {
    const lines = columns.map((column, c) => {
      const points = rows.flatMap((row): Point[] => {
        const value = row.cells[column.key]?.value ?? null;
        return value === null || value <= 0 ? [] : [{ x: placeOf(row), y: y.place(value) }];
      });
      return curve(points, i, c === 0 ? "" : "thin") + (c === 0 && dotted ? dots(points, i) : "");
    });
    return `${dotted ? whiskers(rows, main, { placeOf, y }) : ""}${lines.join("")}`;
  });
  const yTitle = columns.length > 1 ? "p99 (thin: p50), ms" : headingOf(main);
  return drawing(
    {
      id: "sweep",
      title: `${main.title} against ${axis.path}`,
      description: series.map((one) => sweepWords(one, main)).join(" "),
    },
    `${axes({ x, y, xTitle: axis.path, yTitle })}${body.join("")}`,
  );
}

function valueScale(
  report: SimReport,
  columns: readonly Column[],
  ends: { readonly from: number; readonly to: number },
): Scale {
  const values = report.rows
    .flatMap((row) => columns.map(({ key }) => row.cells[key]?.value ?? null))
    .filter((value): value is number => value !== null && value > 0);
  const [min, max] = values.length === 0 ? [1, 10] : [Math.min(...values), Math.max(...values)];
  return max / min > 5 ? logScale({ min, max, ...ends }) : linearScale({ min: 0, max, ...ends });
}

function whiskers(
  rows: readonly ReportRow[],
  { key }: Column,
  { placeOf, y }: { readonly placeOf: (row: ReportRow) => number; readonly y: Scale },
): string {
  let path = "";
  for (const row of rows) {
    const { low, high } = row.cells[key] ?? {};
    if (low === undefined || high === undefined || low <= 0) continue;
    path += `M${round(placeOf(row))} ${round(y.place(low))}V${round(y.place(high))}`;
  }
  return path === "" ? "" : `<path class="w" d="${path}"/>`;
}

function dots(points: readonly Point[], series: number): string {
  return points
    .map(({ x, y }) => `<circle class="f${series}" cx="${round(x)}" cy="${round(y)}" r="3"/>`)
    .join("");
}

function sweepWords({ label, rows }: SweepSeries, column: Column): string {
  const [first, last] = [rows[0], rows[rows.length - 1]];
  const said = (row: ReportRow | undefined): string => {
    const value = row?.cells[column.key]?.value;
    const shown = value === null || value === undefined ? "not known" : showShort(value);
    return `${shown} at ${showAxisValue(row?.at[0])}`;
  };
  return `${label}: ${said(first)}, ${said(last)}.`;
}
