import type { Palette } from "../terminal/palette.ts";
import type { StatusLine } from "../terminal/status-line.ts";
import type { TrialEvent } from "./run-trial.ts";
import { showCell, showTime } from "./trial-figures.ts";

export interface ProgressTarget {
  readonly line: StatusLine;
  readonly palette: Palette;
  write(text: string): unknown;
}

/** A status line while a cell runs, and a line that stays for each one that is over. */
export function tellEvent(event: TrialEvent, { line, palette, write }: ProgressTarget): void {
  if (event.kind === "tick") {
    line.show(() => tickText(event));
    return;
  }
  line.end();
  const { cell, oracle } = event;
  const ideal = palette.dim(`(ideal p99 ${showTime(oracle.p99Ms)} ms)`);
  const why = cell.why === "" ? "" : `: ${cell.why}`;
  write(`${cell.scenario}  ${cell.target}  ${palette.bold(showCell(cell))} ${ideal}${why}\n`);
}

function tickText({ place, run }: Extract<TrialEvent, { kind: "tick" }>): string {
  const { index, count, scenario, target, totalMs, factor } = place;
  const { ledger, completed } = run.measured;
  const elapsedMs = Math.min(run.elapsedMs(), totalMs);
  const seconds = `${Math.floor(elapsedMs / 1_000)}/${Math.round(totalMs / 1_000)} s`;
  const slower = factor === 1 ? "" : ` at 1/${factor} of the speed`;
  const sent =
    ledger.sent === 0
      ? "warming up"
      : `${ledger.sent} sent, p99 of ok ${showTime(completed.quantile(0.99) / 1_000 / factor)} ms`;
  return `${index}/${count} ${scenario} ${target}${slower}  ${seconds}  ${sent}`;
}
