import type { LoadInterval, LoadSection } from "../load-report.ts";

/** What of a stored run does not agree with its ledger. */
export interface Disagreement {
  /** The field, as {@link LoadSection} calls it, or `intervals`. */
  readonly of: keyof LoadSection | "intervals";
  readonly reason: string;
}

/** Between the ledger of a section and all that is counted of the same requests; undefined where everything adds up. */
export function sectionDisagreement(section: LoadSection): Disagreement | undefined {
  const { ok, httpErrors, transportErrors, timeouts, openAtEnd, sent } = section.ledger;
  const { statuses, failures } = section;
  const histograms = {
    completed: ok,
    service: ok,
    all: ok + timeouts + openAtEnd,
    failed: httpErrors + transportErrors,
    pacingLag: sent,
    queueing: sent,
    sendLag: sent,
  };
  for (const of of Object.keys(histograms) as (keyof typeof histograms)[]) {
    const { count } = section[of];
    if (count !== histograms[of])
      return { of, reason: `it holds ${count} values, the ledger ${histograms[of]}` };
  }
  if (sum(statuses.values()) !== ok + httpErrors)
    return {
      of: "statuses",
      reason: `${sum(statuses.values())} answers, the ledger has ${ok + httpErrors}`,
    };
  if (sum(failures.values()) !== transportErrors)
    return {
      of: "failures",
      reason: `${sum(failures.values())} failures, the ledger has ${transportErrors}`,
    };
  return undefined;
}

/** Between the ledger and the intervals, whose sum it is. */
export function intervalDisagreement(
  { ledger }: Pick<LoadSection, "ledger">,
  intervals: readonly LoadInterval[],
): Disagreement | undefined {
  const { ok, httpErrors, transportErrors, timeouts, openAtEnd, sent, dropped } = ledger;
  const pairs = [
    ["sent", sum(intervals.map((one) => one.sent)), sent],
    ["dropped", sum(intervals.map((one) => one.dropped)), dropped],
    ["infinite", sum(intervals.map((one) => one.infinite)), httpErrors + transportErrors + dropped],
    ["response times", sum(intervals.map((one) => one.all.count)), ok + timeouts + openAtEnd],
  ] as const;
  const wrong = pairs.find(([, held, due]) => held !== due);
  if (wrong === undefined) return undefined;
  const [name, held, due] = wrong;
  return { of: "intervals", reason: `together they have ${held} ${name}, the ledger ${due}` };
}

/** What of an interval's place does not fit to the others. */
export interface Misplacement {
  /** Of the intervals, from 0. */
  readonly index: number;
  readonly of: "startMs" | "lengthMs";
  readonly reason: string;
}

/** Rounding of sums; a microsecond is what the clocks tell. */
const SLACK_MS = 0.001;

/**
 * Intervals follow each other without a gap from the start of measuring to its end; undefined where they do. One in which nothing
 * was measured, as after a stop, has no length and stands anywhere behind those before it.
 */
export function misplacedInterval(
  intervals: readonly Pick<LoadInterval, "startMs" | "lengthMs">[],
  runMs: number,
): Misplacement | undefined {
  let endMs = 0;
  for (const [index, { startMs, lengthMs }] of intervals.entries()) {
    const isGap = lengthMs > 0 && startMs > endMs + SLACK_MS;
    if (isGap || startMs < endMs - SLACK_MS) {
      const before =
        index === 0 ? "measuring begins at 0 ms" : `the one before ends at ${endMs} ms`;
      return { index, of: "startMs", reason: `it begins at ${startMs} ms, and ${before}` };
    }
    if (lengthMs > 0) endMs = startMs + lengthMs;
    if (endMs > runMs + SLACK_MS)
      return {
        index,
        of: "lengthMs",
        reason: `it ends at ${endMs} ms, and ${runMs} ms were measured`,
      };
  }
  const index = intervals.length - 1;
  return endMs < runMs - SLACK_MS && index >= 0
    ? { index, of: "lengthMs", reason: `the last one ends at ${endMs} ms of ${runMs} ms` }
    : undefined;
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
