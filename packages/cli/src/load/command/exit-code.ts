import { EXIT } from "../../terminal/failure.ts";
import { type LoadResult, type RunRecord, runsOf } from "../output/run-record.ts";

/**
 * What a script is told. A run that does not stand says nothing about thresholds, so that goes first; a threshold that is
 * certainly broken goes before one that the sample cannot decide.
 */
export function exitCodeOf(result: LoadResult): number {
  if (result.kind === "limit") {
    if (result.ratePerSec !== undefined) return EXIT.ok;
    const last = result.probes.at(-1)?.outcome;
    return last === "undecided" || last === "generator-limited" ? EXIT.notValid : EXIT.failed;
  }
  const runs = runsOf(result);
  // A sweep ends at the generator's limit by design: its last row is marked, and the others stand.
  const isLimited = (run: RunRecord): boolean => run.check.verdict === "generator-limited";
  if (result.kind === "run" ? isLimited(result.run) : runs.every(isLimited)) return EXIT.notValid;
  const verdicts = runs.flatMap((run) => run.verdicts.map(({ verdict }) => verdict));
  if (verdicts.includes("failed")) return EXIT.failed;
  return verdicts.includes("undecided") ? EXIT.notValid : EXIT.ok;
}
