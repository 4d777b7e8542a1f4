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

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
