import { EXIT } from "../../terminal/failure.ts";
import { isUnanswered } from "../output/nothing-answered.ts";
import { type LoadResult, runsOf } from "../output/run-record.ts";

/**
 * What a script is told. A run that does not stand says nothing about thresholds, so that goes first; a threshold that is
 * certainly broken goes before one that the sample cannot decide. That something was answered well is a threshold of every run.
 */
export function exitCodeOf(result: LoadResult): number {
  const runs = runsOf(result);
  if (result.kind === "limit") {
    if (result.ratePerSec !== undefined && !isUnanswered(runs)) return EXIT.ok;
    const last = result.probes.at(-1)?.outcome;
    const isOpen = last === "generator-limited" || (last === "undecided" && !isUnanswered(runs));
    return isOpen ? EXIT.notValid : EXIT.failed;
  }
  const sound = runs.filter(({ check }) => check.verdict === "ok");
  if (sound.length === 0) return EXIT.notValid;
  // What a limited row of a sweep would have shown nobody knows: it can neither break a threshold nor keep it.
  const verdicts = sound.flatMap((run) => run.verdicts.map(({ verdict }) => verdict));
  if (verdicts.includes("failed") || isUnanswered(runs)) return EXIT.failed;
  const isOpen = sound.length < runs.length || verdicts.includes("undecided");
  return isOpen ? EXIT.notValid : EXIT.ok;
}
