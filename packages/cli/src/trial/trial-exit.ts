import { EXIT } from "../terminal/failure.ts";
import { isWorse } from "./grade.ts";
import type { TrialFlags } from "./trial-flags.ts";
import type { TrialReport } from "./trial-report.ts";

/** A grade that is known to be too low says more than a cell of which nothing is known. */
export function exitCodeOf(
  { cells }: Pick<TrialReport, "cells">,
  { failBelow }: Pick<TrialFlags, "failBelow">,
): number {
  const isTooLow = cells.some(
    ({ grade }) => grade !== undefined && failBelow !== undefined && isWorse(grade, failBelow),
  );
  if (isTooLow || cells.some(({ state }) => state === "not-started")) return EXIT.failed;
  return cells.some(({ state }) => state === "not-valid") ? EXIT.notValid : EXIT.ok;
}
