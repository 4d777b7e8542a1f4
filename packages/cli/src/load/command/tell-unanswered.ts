import { showCount } from "../../plan/figures.ts";
import { CommandFailure, EXIT, formatFailure } from "../../terminal/failure.ts";
import { paletteFor } from "../../terminal/palette.ts";
import { isUnanswered, whereToLook } from "../output/nothing-answered.ts";
import type { RunRecord } from "../output/run-record.ts";

/** On stderr, also with --quiet and --json: a run that met nobody must not pass for one. @returns whether it was so. */
export function tellUnanswered(runs: readonly RunRecord[]): boolean {
  const failure = unansweredFailure(runs);
  if (failure === undefined) return false;
  process.stderr.write(`${formatFailure(failure, paletteFor(process.stderr))}\n`);
  return true;
}

/** Undefined where a request was answered well, or none was sent. */
export function unansweredFailure(runs: readonly RunRecord[]): CommandFailure | undefined {
  const asked = runs.find(({ measured }) => measured.ledger.sent > 0);
  if (asked === undefined || !isUnanswered(runs)) return undefined;
  const sent = runs.reduce((sum, { measured }) => sum + measured.ledger.sent, 0);
  const { why, remedy } = whereToLook(asked);
  const [target] = asked.setup.targets;
  const of = sent === 1 ? "the only request" : `not one of ${showCount(sent)} requests`;
  const verb = sent === 1 ? "was not answered well" : "was answered well";
  return new CommandFailure(`${target?.origin ?? ""}: ${of} ${verb}: ${why}`, remedy, EXIT.failed);
}
