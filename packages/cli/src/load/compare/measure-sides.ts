import { CommandFailure, EXIT } from "../../terminal/failure.ts";
import { stopOnSignal } from "../../terminal/stop-on-signal.ts";
import type { LoadRequest } from "../command/load-request.ts";
import { runOnce } from "../command/run-once.ts";
import { SPARE_THE_GENERATOR } from "../output/check-text.ts";
import type { CompareContext } from "./compare-command.ts";
import { type MeasuredSides, runComparison } from "./run-comparison.ts";

const DEFAULT_RUNS = 8;

export interface SidesToMeasure {
  readonly a: LoadRequest;
  readonly b: LoadRequest;
}

export interface Measured extends MeasuredSides {
  /** Why there are fewer runs than asked for; empty when there are not. */
  readonly partial: string;
}

/** Of each side. */
export function runsAsked({ flags }: CompareContext): number {
  return flags.runs ?? DEFAULT_RUNS;
}

/**
 * Runs both sides in turns, with progress on stderr. A signal ends it with the runs that are whole, of which each side has one at least:
 * else throws a {@link CommandFailure}.
 */
export async function measureSides(
  { a, b }: SidesToMeasure,
  context: CompareContext,
): Promise<Measured> {
  const { flags, version } = context;
  const runs = runsAsked(context);
  const stop = stopOnSignal();
  try {
    const { signal } = stop;
    const isQuiet = flags.quiet === true;
    const sides = await runComparison({
      ...{ a, b, runs, signal },
      runOnce: (request, label) => runOnce(request, { signal, version, label, isQuiet }),
    });
    const partial = partialText(sides, runs);
    const remedy = sides.stopped?.why === "generator-limited" ? SPARE_THE_GENERATOR : "";
    if (sides.runsA.length === 0 || sides.runsB.length === 0)
      throw new CommandFailure(
        `nothing to compare: ${partial}`,
        remedy,
        sides.stopped?.why === "signal"
          ? Number(process.exitCode ?? EXIT.interrupted)
          : EXIT.notValid,
      );
    return { ...sides, partial: `${partial} ${remedy}`.trim() };
  } finally {
    stop.release();
  }
}

function partialText({ runsA, runsB, stopped }: MeasuredSides, asked: number): string {
  if (stopped === undefined) return "";
  const made = `after ${runsA.length} + ${runsB.length} of ${asked} + ${asked} runs`;
  return stopped.why === "signal"
    ? `it was stopped ${made}.`
    : `it ended ${made}: in run ${stopped.run} (${stopped.side}) the load generator was the bottleneck: ${stopped.reasons.join("; ")}.`;
}
