import type { Column } from "bobtail/sim";
import { wrap } from "../plan/figures.ts";
import type { Palette } from "../terminal/palette.ts";
import {
  halfOf,
  hasUnknown,
  headingOf,
  methodOf,
  partialOf,
  pointOf,
  showHalf,
  showValue,
  unitOf,
} from "./sim-figures.ts";
import type { ReportCell, ReportRow, SimReport } from "./sim-report.ts";

const WIDTH = 80;
const GAP = 2;
const MIN_LABEL = 12;

/** The table for a terminal, 80 columns wide. Below a row stand its interval, the published and the exact value. */
export function simText(report: SimReport, palette: Palette): string {
  const lines: string[] = [];
  if (report.partial) lines.push(palette.yellow(partialOf(report)), "");
  lines.push(palette.bold(wrap(report.title, WIDTH)));
  if (report.source !== undefined)
    lines.push(palette.dim(wrap(`Source: ${report.source}.`, WIDTH)));
  lines.push(palette.dim(wrap(methodOf(report), WIDTH)), "");
  lines.push(...tableLines(report, palette), "");
  for (const note of report.notes) lines.push(wrap(note, WIDTH));
  if (hasUnknown(report.rows))
    lines.push(wrap("-: not known, or the sample is too small for it; --json says why.", WIDTH));
  return `${lines.join("\n").trimEnd()}\n`;
}

interface Line {
  readonly label: string;
  readonly values: readonly string[];
  readonly style: "plain" | "beside" | "group";
}

function tableLines(report: SimReport, palette: Palette): string[] {
  const lines = linesOf(report);
  const widths = report.columns.map((column, i) => {
    const words = headingOf(column).split(" ");
    const values = lines.map((line) => (line.values[i] ?? "").length);
    return GAP + Math.max(...words.map((word) => word.length), ...values);
  });
  const room = Math.max(MIN_LABEL, WIDTH - widths.reduce((sum, width) => sum + width, 0));
  const longest = Math.max(
    MIN_LABEL,
    ...lines.filter((l) => l.style !== "group").map((l) => l.label.length),
  );
  const labelWidth = Math.min(room, longest);
  const row = (label: string, values: readonly string[]): string =>
    `${label.padEnd(labelWidth)}${values.map((value, i) => value.padStart(widths[i] ?? 0)).join("")}`.trimEnd();
  const wrapped = report.columns.map((column, i) => [
    ...wrap(column.title, (widths[i] ?? GAP) - GAP).split("\n"),
    unitOf(column),
  ]);
  const height = Math.max(0, ...wrapped.map((heading) => heading.length));
  const head = Array.from({ length: height }, (_, at) =>
    palette.dim(
      row(
        "",
        wrapped.map((heading) => heading[at - height + heading.length] ?? ""),
      ),
    ),
  );
  const body = lines.flatMap(({ label, values, style }) => {
    if (style === "group") return [palette.bold(label)];
    if (style === "beside") return [palette.dim(row(label, values))];
    return label.length <= labelWidth ? [row(label, values)] : [label, row("", values)];
  });
  return [...head, ...body];
}

function linesOf(report: SimReport): Line[] {
  const lines: Line[] = [];
  let group: string | undefined;
  for (const row of report.rows) {
    const isSwept = report.axes.length > 0;
    if (isSwept && row.name !== group) {
      group = row.name;
      lines.push({ label: row.name, values: [], style: "group" });
    }
    const some = report.partial && row.runs < report.runs ? ` (${row.runs} runs)` : "";
    const label = `${isSwept ? `  ${pointOf(report, row.at)}` : row.name}${some}`;
    lines.push({ label, values: valuesOf(report, row, (cell) => cell.value), style: "plain" });
    beside(lines, report, row, { label: "\u00b1", pick: halfOf, show: showHalf });
    beside(lines, report, row, { label: "published", pick: (cell) => cell.article });
    beside(lines, report, row, { label: "exact", pick: (cell) => cell.exact });
  }
  return lines;
}

type Pick = (cell: ReportCell) => number | null | undefined;

function beside(
  lines: Line[],
  report: SimReport,
  row: ReportRow,
  { label, pick, show }: { readonly label: string; readonly pick: Pick; readonly show?: Show },
): void {
  const values = valuesOf(report, row, pick, show);
  if (values.every((value) => value === "")) return;
  const indent = report.axes.length > 0 ? "    " : "  ";
  lines.push({ label: `${indent}${label}`, values, style: "beside" });
}

type Show = (value: number, column: Column) => string;

function valuesOf(report: SimReport, row: ReportRow, pick: Pick, show: Show = showValue): string[] {
  return report.columns.map((column) => {
    const value = pick(row.cells[column.key] ?? { value: null });
    if (value === undefined) return "";
    return value === null ? "-" : show(value, column);
  });
}
