import { wrap } from "../../plan/figures.ts";
import type { Palette } from "../../terminal/palette.ts";
import { SPARE_THE_GENERATOR } from "./check-text.ts";
import { showRate } from "./describe-run.ts";
import { failedText } from "./percentile-table.ts";
import { headlineFigure, showFigure } from "./percentiles.ts";
import type { LimitRecord, Probe, RunRecord, SweepRecord } from "./run-record.ts";
import { meanRatePerSec } from "./run-setup.ts";
import { verdictLines } from "./verdict-text.ts";

const WIDTH = 80;
const COLUMNS = [9, 10, 11, 11, 11, 15] as const;

function row(cells: readonly string[]): string {
  return cells.map((cell, i) => cell.padStart(COLUMNS[i] ?? 11)).join("");
}

/** Above the rows of {@link sweepRow}. */
export function sweepHead(palette: Palette): string {
  return palette.bold(row(["rate", "ok", "p50", "p99", "p99.9", "failed"]));
}

/** One run of a sweep. Percentiles are of all planned requests. */
export function sweepRow(run: RunRecord, palette: Palette): string {
  const { measured } = run;
  const [p50, p99, p999] = [0.5, 0.99, 0.999].map((quantile) => {
    const figure = headlineFigure(measured, quantile);
    if (figure.kind === "unsupported") return "-";
    return figure.kind === "unbounded" ? "unbounded" : showFigure(figure);
  });
  const perSec = showRate((measured.ledger.ok / Math.max(1, run.runMs)) * 1_000);
  const text = row([
    showRate(meanRatePerSec(run.setup)),
    perSec,
    p50 ?? "",
    p99 ?? "",
    p999 ?? "",
    failedText(measured).replace(" failed", ""),
  ]);
  if (!isLimited(run)) return text;
  const why = wrap(`generator-limited: ${run.check.reasons.join("; ")}`, WIDTH - 4);
  return palette.yellow(`${text}\n    ${why.replaceAll("\n", "\n    ")}`);
}

/** Below the rows: why it ended, what the marked rows mean, and what became of each `--fail-if` in each row. */
export function sweepEnd({ stopped, runs }: SweepRecord, palette: Palette): string {
  const limited = runs.filter(isLimited).length;
  const marked = limited === 1 ? "1 row says" : `${limited} of ${runs.length} rows say`;
  const sentences = [
    "Percentiles are of all planned requests; -: the sample is too small.",
    ...(stopped === undefined ? [] : [`Ended early: ${stopped}.`]),
    ...(limited === 0
      ? []
      : [
          `${marked} nothing of the target, since the generator could not keep up. ${SPARE_THE_GENERATOR}`,
        ]),
  ].map((text) => wrap(text, WIDTH));
  return [...sentences, ...runs.flatMap((run) => verdictsOfRow(run, palette))].join("\n");
}

function verdictsOfRow(run: RunRecord, palette: Palette): readonly string[] {
  const rate = showRate(meanRatePerSec(run.setup)).padStart(COLUMNS[0]);
  if (run.verdicts.length > 0 && isLimited(run))
    return [`${rate}  ${palette.yellow("not judged")}: generator-limited`];
  return verdictLines(run.verdicts, palette).map((line) => `${rate}  ${line}`);
}

function isLimited({ check }: RunRecord): boolean {
  return check.verdict === "generator-limited";
}

const PROBE_COLUMNS = [9, 10, 19] as const;

/** One probe of a search, as it is printed when it ends. */
export function probeRow(
  { ratePerSec, phase, outcome, measured }: Probe,
  palette: Palette,
): string {
  const style = {
    held: palette.green,
    failed: palette.red,
    undecided: palette.yellow,
    "generator-limited": palette.yellow,
  };
  const cells = [showRate(ratePerSec), phase, outcome];
  const head = cells.map((cell, i) => cell.padStart(PROBE_COLUMNS[i] ?? 10)).join("");
  return `${style[outcome](head)}  ${measured}`;
}

export function limitEnd(record: LimitRecord, palette: Palette): string {
  const { ratePerSec, objective, because } = record;
  const answer =
    ratePerSec === undefined
      ? `No limit found for ${objective}: ${because}.`
      : `${showRate(ratePerSec)} is the highest rate that keeps ${objective}: ${because}.`;
  const [first = "", ...rest] = wrap(answer, WIDTH).split("\n");
  return [palette.bold(first), ...rest.map((line) => palette.bold(line))].join("\n");
}
