import { showCount, showQuantile, wrap } from "../../plan/figures.ts";
import type { Palette } from "../../terminal/palette.ts";
import { checkSentences } from "./check-text.ts";
import { describePartial, describeRun, describeTimes } from "./describe-run.ts";
import { ledgerText } from "./ledger-text.ts";
import { nothingAnswered } from "./nothing-answered.ts";
import { clockLines, percentileTable } from "./percentile-table.ts";
import { headlineFigure, REPORT_QUANTILES } from "./percentiles.ts";
import type { RunRecord } from "./run-record.ts";
import { slowEpisodes } from "./slow-episodes.ts";
import { spectrumPoints } from "./spectrum-points.ts";
import { unsteadiness } from "./steadiness.ts";
import { textSpectrum } from "./text-spectrum.ts";
import { verdictLines } from "./verdict-text.ts";

/** Tables fit it; a spectrum is as wide as the terminal, up to 85. */
const WIDTH = 80;

export interface TextOptions {
  readonly palette: Palette;
  /** Of the terminal. */
  readonly columns: number;
}

/** One run for a terminal. */
export function runText(run: RunRecord, { palette, columns }: TextOptions): string {
  const { measured, setup } = run;
  const steady = unsteadiness(run);
  const nothing = nothingAnswered(run);
  const parts = [
    [palette.bold(wrap(describeRun(run), WIDTH))],
    run.partial ? [palette.yellow(wrap(describePartial(run), WIDTH))] : [],
    [
      palette.dim(
        wrap(
          "Response: from the planned send to the last byte, over all planned requests; failed ones count as infinitely long. Success only: of those answered. Service: from written to last byte. Send lag: from planned to written.",
          WIDTH,
        ),
      ),
      ...percentileTable(measured, palette),
      ...episodeLines(run),
    ],
    textSpectrum(
      spectrumPoints((quantile) => headlineFigure(measured, quantile)),
      columns,
    ),
    ["Ledger", ...indented(ledgerText(measured, WIDTH))],
    nothing === undefined ? [] : [palette.yellow(wrap(nothing, WIDTH))],
    clockLines(measured, { sse: setup.sse, palette }),
    checkLines(run, palette),
    steady === undefined ? [] : [palette.yellow(wrap(steady, WIDTH))],
    verdictLines(run.verdicts, palette),
    [palette.dim(wrap(describeTimes(run), WIDTH))],
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

/** Of the highest percentile that the sample supports, from the p99 on. */
function episodeLines(run: RunRecord): string[] {
  for (const quantile of REPORT_QUANTILES.toReversed()) {
    const count = quantile < 0.99 ? undefined : slowEpisodes(run, quantile);
    if (count === undefined) continue;
    const noun = count === 1 ? "slow episode" : "slow episodes";
    return [`  ${showQuantile(quantile)} stands on ${showCount(count)} ${noun}`];
  }
  return [];
}

function checkLines({ check }: RunRecord, palette: Palette): string[] {
  const [verdict = "", ...rest] = checkSentences(check).map((text) => wrap(text, WIDTH));
  const isOk = check.verdict === "ok";
  return [isOk ? palette.green(verdict) : palette.red(verdict), ...rest];
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
