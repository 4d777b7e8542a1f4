import { basename } from "node:path";
import { showQuantile, wrap } from "../../plan/figures.ts";
import type { Palette } from "../../terminal/palette.ts";
import { describeRun, showRate } from "./describe-run.ts";
import { failedText } from "./percentile-table.ts";
import {
  type Figure,
  figureOf,
  headlineFigure,
  REPORT_QUANTILES,
  showFigure,
} from "./percentiles.ts";
import type { RunRecord } from "./run-record.ts";
import { setupDifferences } from "./run-setup.ts";

const WIDTH = 80;
const LABEL_WIDTH = 20;
const MAX_RUNS = 4;

export interface NamedRun {
  readonly file: string;
  readonly run: RunRecord;
}

/** Runs beside each other: what each was, and its figures. It describes these runs, and says nothing about others. */
export function sideBySide(all: readonly NamedRun[], palette: Palette): string {
  const shown = all.slice(0, MAX_RUNS);
  const width = Math.floor((WIDTH - LABEL_WIDTH) / Math.max(1, shown.length));
  const line = (label: string, cells: readonly string[]): string =>
    `${label.padEnd(LABEL_WIDTH)}${cells.map((cell) => cell.slice(0, width - 1).padStart(width)).join("")}`;
  const figures = (label: string, of: (run: RunRecord) => Figure): string[] => {
    const found = shown.map(({ run }) => of(run));
    if (found.every(({ kind }) => kind === "unsupported")) return [];
    return [line(label, found.map(short))];
  };
  const lines = [
    ...shown.map(({ file, run }) =>
      wrap(`${basename(file)}: ${describeRun(run)}${run.partial ? ", partial" : ""}`, WIDTH),
    ),
    "",
    palette.bold(
      line(
        "",
        shown.map(({ file }) => basename(file)),
      ),
    ),
    ...REPORT_QUANTILES.flatMap((q) =>
      figures(`response ${showQuantile(q)}`, ({ measured }) => headlineFigure(measured, q)),
    ),
    ...[0.5, 0.99].flatMap((q) =>
      figures(`success only ${showQuantile(q)}`, ({ measured }) => figureOf(measured.completed, q)),
    ),
    ...figures("service p99", ({ measured }) => figureOf(measured.service, 0.99)),
    ...figures("send lag p99", ({ measured }) => figureOf(measured.sendLag, 0.99)),
    line(
      "failed",
      shown.map(({ run }) => failedText(run.measured).replace(" failed", "")),
    ),
    line(
      "ok",
      shown.map(({ run }) => showRate((run.measured.ledger.ok / Math.max(1, run.runMs)) * 1_000)),
    ),
    line(
      "self-check",
      shown.map(({ run }) => (run.check.verdict === "ok" ? "ok" : "limited")),
    ),
    "",
    ...notes(all).map((note) => palette.dim(wrap(note, WIDTH))),
  ];
  return `${lines.join("\n")}\n`;
}

function notes(all: readonly NamedRun[]): string[] {
  const [first, ...rest] = all;
  const differs = new Set(
    rest.flatMap(({ run }) =>
      first === undefined ? [] : setupDifferences(first.run.setup, run.setup),
    ),
  );
  return [
    "This describes these runs. Whether one target is better than another takes repeated runs: `bobtail load --compare`.",
    ...(differs.size > 0
      ? [`They were not asked the same: ${[...differs].join(", ")} differs.`]
      : []),
    ...(all.length > MAX_RUNS ? [`The first ${MAX_RUNS} of ${all.length} files are shown.`] : []),
  ];
}

function short(figure: Figure): string {
  if (figure.kind === "unbounded") return "unbounded";
  return figure.kind === "unsupported" ? "-" : showFigure(figure);
}
