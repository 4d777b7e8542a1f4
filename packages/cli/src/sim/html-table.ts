import { escapeHtml } from "./chart-frame.ts";
import { halfOf, headingOf, showAxisValue, showHalf, showValue } from "./sim-figures.ts";
import type { ReportCell, ReportRow, SimReport } from "./sim-report.ts";

/** More rows are not read on a page; the other forms have them all. */
const MAX_ROWS = 40;
/** Names are the user's own and may be long; the page stays small. */
const MAX_NAME = 60;

/** All values, with their intervals and what they stand beside. */
export function reportTable(report: SimReport): string {
  const { axes, columns, rows } = report;
  const head = ["row", ...axes.map(({ path }) => path), ...columns.map(headingOf)];
  const body = rows.slice(0, MAX_ROWS).map((row) => {
    const at = row.at.map((value) => `<td>${escapeHtml(shortened(showAxisValue(value)))}</td>`);
    return `<tr><td>${nameOf(report, row)}</td>${at.join("")}${columns
      .map((column) => `<td>${cellOf(row.cells[column.key] ?? { value: null }, column)}</td>`)
      .join("")}</tr>`;
  });
  const more =
    rows.length > MAX_ROWS
      ? `<p class="dim">The first ${MAX_ROWS} of ${rows.length} rows; --json and --csv have all of them.</p>`
      : "";
  return `<div class="scroll"><table><thead><tr>${head.map((text) => `<th scope="col">${escapeHtml(shortened(text))}</th>`).join("")}</tr></thead><tbody>${body.join("")}</tbody></table></div>${more}`;
}

export function simpleTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const body = rows.map(
    (row) => `<tr>${row.map((text) => `<td>${escapeHtml(shortened(text))}</td>`).join("")}</tr>`,
  );
  return `<table><thead><tr>${head.map((text) => `<th scope="col">${escapeHtml(text)}</th>`).join("")}</tr></thead><tbody>${body.join("")}</tbody></table>`;
}

function nameOf(report: SimReport, row: ReportRow): string {
  const runs = report.partial && row.runs < report.runs ? `<small>${row.runs} runs</small>` : "";
  return `${escapeHtml(shortened(row.name))}${runs}`;
}

function cellOf(cell: ReportCell, column: SimReport["columns"][number]): string {
  const half = halfOf(cell);
  const value =
    cell.value === null
      ? `<span title="${escapeHtml(cell.why ?? "not known")}">-</span>`
      : showValue(cell.value, column);
  const beside = [
    ...(half === undefined ? [] : [`\u00b1${showHalf(half, column)}`]),
    ...(cell.article === undefined ? [] : [`published ${showValue(cell.article, column)}`]),
    ...(cell.exact === undefined ? [] : [`exact ${showValue(cell.exact, column)}`]),
  ];
  return `${value}${beside.map((text) => `<small>${text}</small>`).join("")}`;
}

export function shortened(text: string, most: number = MAX_NAME): string {
  return text.length > most ? `${text.slice(0, most - 1)}\u2026` : text;
}
