import { showPercent, wrap } from "../plan/figures.ts";
import { shortened } from "../sim/html-table.ts";
import type { Palette } from "../terminal/palette.ts";
import { type Grade, worstOf } from "./grade.ts";
import {
  legend,
  methodOf,
  notesOf,
  showCell,
  showExtra,
  showPercentile,
  showTime,
} from "./trial-figures.ts";
import { cellOf, type ReportedScenario, type TrialCell, type TrialReport } from "./trial-report.ts";

const WIDTH = 80;
const GAP = 2;
const MAX_NAME = 24;
const MIN_NAME = 16;

/** The report card for a terminal, 80 columns wide: a matrix of grades, then each scenario. */
export function trialText(report: TrialReport, palette: Palette): string {
  const parts = [
    `${palette.bold("Would it route round a backend that is sick?")}\n${palette.dim(wrap(methodOf(report), WIDTH))}`,
    ...matrix(report, palette),
    ...report.scenarios.flatMap((scenario) => details(report, scenario, palette)),
    ...notesOf(report).map((note) =>
      note.startsWith("PARTIAL") ? palette.yellow(wrap(note, WIDTH)) : wrap(note, WIDTH),
    ),
    palette.dim(wrap(legend(), WIDTH)),
    palette.dim(versions(report)),
    palette.dim(wrap(`Again: ${report.command}`, WIDTH)),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** Rows are scenarios, columns targets; as many tables as it takes to stay in 80 columns. */
function matrix(report: TrialReport, palette: Palette): string[] {
  const scenarios = report.scenarios.filter(({ name }) =>
    report.cells.some((cell) => cell.scenario === name),
  );
  const targets = report.targets.map(({ name }) => name).filter((name) => hasRun(report, name));
  if (scenarios.length === 0 || targets.length === 0) return [];
  const first = columnOf(["scenario", ...scenarios.map(({ name }) => name), "worst"], ["scenario"]);
  const ideal = columnOf(
    ["ideal", ...scenarios.map(({ oracle }) => `${showTime(oracle.p99Ms)} ms`), ""],
    ["ideal", "p99"],
  );
  const columns = targets.map((target) => {
    const cells = scenarios.map(({ name }) => cellOf(report, name, target));
    const body = cells.map(showCell);
    return columnOf([target, ...body, worstOf(gradesOf(cells)) ?? "-"], headOf(target));
  });
  return chunked([first, ideal], columns).map((chunk) => drawn(chunk, scenarios.length, palette));
}

interface Column {
  /** Above the cells, from top to bottom. */
  readonly head: readonly string[];
  readonly cells: readonly string[];
  readonly width: number;
}

function columnOf([, ...cells]: readonly string[], head: readonly string[]): Column {
  const width = Math.max(...head.map((line) => line.length), ...cells.map((cell) => cell.length));
  return { head, cells, width };
}

/** `envoy/least-request+hedge` stands in three lines. */
function headOf(target: string): string[] {
  return target.split(/(?<=\/)|(?=\+)/).map((part) => shortened(part, MAX_NAME));
}

/** Tables that each begin with the same columns. */
function chunked(fixed: readonly Column[], columns: readonly Column[]): Column[][] {
  const room = WIDTH - widthOf(fixed);
  const chunks: Column[][] = [];
  let chunk: Column[] = [];
  for (const column of columns) {
    if (chunk.length > 0 && widthOf([...chunk, column]) + GAP > room) {
      chunks.push(chunk);
      chunk = [];
    }
    chunk.push(column);
  }
  return [...chunks, chunk].map((some) => [...fixed, ...some]);
}

function widthOf(columns: readonly Column[]): number {
  return columns.reduce((sum, { width }, i) => sum + width + (i === 0 ? 0 : GAP), 0);
}

function drawn(columns: readonly Column[], rows: number, palette: Palette): string {
  const height = Math.max(...columns.map(({ head }) => head.length));
  const line = (textOf: (column: Column) => string): string =>
    columns
      .map((column) => textOf(column).padEnd(column.width))
      .join(" ".repeat(GAP))
      .trimEnd();
  const head = Array.from({ length: height }, (_, i) =>
    palette.bold(line((column) => column.head[i - height + column.head.length] ?? "")),
  );
  const body = Array.from({ length: rows }, (_, i) => line((column) => column.cells[i] ?? ""));
  return [...head, ...body, palette.bold(line((column) => column.cells[rows] ?? ""))].join("\n");
}

function gradesOf(cells: readonly (TrialCell | undefined)[]): Grade[] {
  return cells.flatMap((cell) => (cell?.grade === undefined ? [] : [cell.grade]));
}

function hasRun(report: TrialReport, target: string): boolean {
  return report.cells.some((cell) => cell.target === target);
}

const DETAIL_HEAD = ["ms", "p50", "p99", "p99.9", "ok p99", "failed", "to sick", "extra"];

/** The question, the ideal, and every target's figures beside it. */
function details(report: TrialReport, scenario: ReportedScenario, palette: Palette): string[] {
  const cells = report.cells.filter(
    (cell) => cell.scenario === scenario.name && cell.figures !== undefined,
  );
  if (cells.length === 0) return [];
  const { oracle } = scenario;
  const rows = [
    [
      `  ideal, ${oracle.how}`,
      ...[oracle.p50Ms, oracle.p99Ms, oracle.p999Ms, oracle.p99Ms].map(showTime),
      showPercent(oracle.failedRatio),
      showPercent(oracle.sickShareRatio),
      showExtra(oracle.extraRatio),
    ],
    ...cells.map(rowOf),
  ];
  const title = `${palette.bold(`${scenario.name}: ${scenario.title}`)}\n${wrap(scenario.question, WIDTH)}`;
  const reasons = cells
    .filter(({ why, state }) => why !== "" && state === "graded")
    .map(({ target, grade, why }) => wrap(`  ${grade} ${target}: ${why}`, WIDTH));
  return [[title, ...table([DETAIL_HEAD, ...rows], palette), ...reasons].join("\n")];
}

function rowOf({ target, grade, figures }: TrialCell): string[] {
  if (figures === undefined) return [];
  return [
    `${grade ?? "-"} ${target}`,
    showPercentile(figures.p50),
    showPercentile(figures.p99),
    showPercentile(figures.p999),
    showTime(figures.successOnly.p99Ms),
    showPercent(figures.failedRatio),
    showPercent(figures.sickShareRatio),
    showExtra(figures.extraRatio),
  ];
}

/** A name that is longer than what the others leave stands on a line of its own. */
function table(rows: readonly (readonly string[])[], palette: Palette): string[] {
  const widths = DETAIL_HEAD.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const others = widths.slice(1).reduce((sum, width) => sum + width + GAP, 0);
  const room = Math.min(widths[0] ?? 0, Math.max(MIN_NAME, WIDTH - others));
  return rows.flatMap(([name = "", ...cells], at) => {
    const figures = cells.map((cell, i) => cell.padStart((widths[i + 1] ?? 0) + GAP)).join("");
    const lines =
      name.length <= room
        ? [`${name.padEnd(room)}${figures}`]
        : [shortened(name, WIDTH), `${"".padEnd(room)}${figures}`];
    return at < 2 ? lines.map((line) => palette.dim(line)) : lines;
  });
}

function versions({ targets, version }: TrialReport): string {
  const found = targets.map((target) => `${target.name.split("/")[0]} ${target.version}`);
  return wrap(`Versions: ${[...new Set(found)].join(", ")}; trial by bobtail ${version}.`, WIDTH);
}
