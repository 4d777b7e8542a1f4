import { fieldOf } from "./sim-figures.ts";
import type { ReportCell, SimReport } from "./sim-report.ts";

type Part = readonly [suffix: string, of: (cell: ReportCell) => number | null | undefined];

const PARTS: readonly Part[] = [
  ["", (cell) => cell.value],
  ["_low", (cell) => cell.low],
  ["_high", (cell) => cell.high],
  ["_published", (cell) => cell.article],
  ["_exact", (cell) => cell.exact],
];

/** One line a row, as in RFC 4180 but with line feeds; an empty field is not known. Ratios are ratios. */
export function simCsv(report: SimReport): string {
  const { axes, rows } = report;
  const parts = report.columns.flatMap((column) =>
    PARTS.filter(([suffix, of]) => {
      const isKnown = rows.some((row) => known(of(row.cells[column.key] ?? { value: null })));
      return suffix === "" || isKnown;
    }).map(([suffix, of]) => ({ key: column.key, heading: `${fieldOf(column)}${suffix}`, of })),
  );
  const head = ["row", ...axes.map(({ path }) => path), "runs", ...parts.map((p) => p.heading)];
  const lines = rows.map((row) => [
    row.name,
    ...row.at,
    row.runs,
    ...parts.map(({ key, of }) => of(row.cells[key] ?? { value: null }) ?? ""),
  ]);
  return [head, ...lines].map((fields) => `${fields.map(quote).join(",")}\n`).join("");
}

function known(value: number | null | undefined): boolean {
  return value !== undefined && value !== null;
}

function quote(field: string | number | boolean): string {
  const text = String(field);
  // A sheet takes a text that begins so for a formula.
  const safe = typeof field === "string" && /^[=+@]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
