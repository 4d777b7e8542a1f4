import type { LoadResult } from "./run-record.ts";
import { runText, type TextOptions } from "./run-text.ts";
import { limitEnd, probeRow, sweepEnd, sweepHead, sweepRow } from "./sweep-text.ts";

/** What was measured, for a terminal. */
export function resultText(result: LoadResult, options: TextOptions): string {
  const { palette } = options;
  switch (result.kind) {
    case "run":
      return runText(result.run, options);
    case "sweep":
      return lines([
        sweepHead(palette),
        ...result.runs.map((run) => sweepRow(run, palette)),
        sweepEnd(result, palette),
      ]);
    case "limit":
      return lines([
        ...result.probes.map((probe) => probeRow(probe, palette)),
        limitEnd(result, palette),
      ]);
  }
}

function lines(all: readonly string[]): string {
  return `${all.join("\n")}\n`;
}
