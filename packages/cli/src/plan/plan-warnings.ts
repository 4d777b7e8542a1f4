import {
  type HedgePlan,
  type LoadReason,
  type LoadVerdict,
  MIN_EXCEEDANCES,
  samplesForTail,
} from "bobtail/plan";
import { showCount, showMs, showPercent, showQuantile } from "./figures.ts";
import type { LatencyLog } from "./latency-log.ts";
import { isHedged } from "./policy-snippet.ts";

/** Something that makes the figures less than they look; `kind` is for programs, `text` for people. */
export interface PlanWarning {
  readonly kind:
    | "cliff"
    | "few-samples"
    | "correlated"
    | "censored"
    | "skipped"
    | "buckets"
    | "no-gain"
    | "load";
  readonly text: string;
}

/** Wide enough to plan by: +-30 % of the share beyond. */
const FEW_TOLERANCE = 0.3;

export function planWarnings(plan: HedgePlan, log: LatencyLog): PlanWarning[] {
  return [
    ...sampleWarnings(plan, log),
    ...cliffWarnings(plan),
    ...correlationWarnings(plan),
    ...logWarnings(log),
    ...hedgeWarnings(plan),
    ...loadWarnings(plan),
  ];
}

function sampleWarnings(plan: HedgePlan, log: LatencyLog): PlanWarning[] {
  const target = plan.leafTargets.find((leaf) => leaf.quantile === plan.quantile);
  if (target === undefined) return [];
  const needed = samplesForTail(target.leafQuantile, FEW_TOLERANCE);
  if (log.count >= needed) return [];
  const least = Math.ceil(MIN_EXCEEDANCES * target.oneSlowCallIn);
  const how =
    log.count < least ? `even a rough figure needs ${showCount(least)}` : "the intervals are wide";
  return [
    {
      kind: "few-samples",
      text:
        `Few latencies: the request's ${showQuantile(plan.quantile)} rests on the slowest 1 in ${showCount(target.oneSlowCallIn)} calls of a leaf; ` +
        `${log.count === 1 ? "one latency was" : `${showCount(log.count)} latencies were`} read, +-30 % takes ${showCount(needed)}; ${how}. Stalls count by episode, not by call.`,
    },
  ];
}

function cliffWarnings(plan: HedgePlan): PlanWarning[] {
  return plan.cliffs.map(({ kind, quantile, belowMs, aboveMs }) => ({
    kind: "cliff",
    text:
      `Cliff: the request's ${showQuantile(quantile)} ${kind === "no-hedge" ? "without a hedge" : "with the proposed hedge"} stands where ` +
      `latencies are rare: with 30 % more slow calls it is ${showMs(aboveMs)}, with 30 % fewer ${showMs(belowMs)}. Watch the share of slow requests instead.`,
  }));
}

function correlationWarnings(plan: HedgePlan): PlanWarning[] {
  const { correlation, replicaCorrelation } = plan;
  if (correlation !== undefined && correlation.high > 0.05)
    return [
      {
        kind: "correlated",
        text:
          `Correlated slowness: in ${showCount(correlation.bothSlow)} of ${showCount(correlation.slowPrimaries)} calls with a slow first copy the second was slow too; ` +
          `a cause is shared in ${showPercent(correlation.ratio)} of them (95 %: ${showPercent(correlation.low)} to ${showPercent(correlation.high)}). Even 5 % costs most of a hedge's gain.`,
      },
    ];
  if (correlation === undefined && replicaCorrelation === 0 && isHedged(plan))
    return [
      {
        kind: "correlated",
        text: "The figures with a hedge take the replicas' slowness as independent; a shared cause (5 % of it is enough) takes most of the gain. Duplicate 0.5 % of the calls and give both latencies (--pair-field) to know.",
      },
    ];
  return [];
}

function logWarnings(log: LatencyLog): PlanWarning[] {
  const warnings: PlanWarning[] = [];
  if (log.censoredCount > 0)
    warnings.push({
      kind: "censored",
      text:
        `Censored log: ${showCount(log.censoredCount)} of ${showCount(log.count)} calls were cut short and count as at least that long (Kaplan-Meier). ` +
        (log.latency.beyondRatio > 0
          ? `Beyond ${showMs(log.latency.maxMs)} nothing is known: ${showPercent(log.latency.beyondRatio)} of the calls. `
          : "") +
        "That is right if what cut them did not depend on how slow they were: leave 1 % uncut to check.",
    });
  for (const skip of log.skips)
    warnings.push({
      kind: "skipped",
      text: `Skipped ${showCount(skip.count)} ${skip.count === 1 ? "line" : "lines"}: ${skip.reason} (first at ${skip.firstPlace}).`,
    });
  if (log.bucketBounds !== undefined)
    warnings.push({
      kind: "buckets",
      text:
        `Buckets: ${log.bucketBounds} bounds; inside a bucket latencies are taken as evenly spread, so every figure is as coarse as its bucket.` +
        (log.latency.beyondRatio > 0
          ? ` ${showPercent(log.latency.beyondRatio)} of the calls are beyond the last bound, ${showMs(log.latency.maxMs)}: how far is not known.`
          : ""),
    });
  return warnings;
}

function hedgeWarnings(plan: HedgePlan): PlanWarning[] {
  if (plan.proposed.kind !== "no-hedge") return [];
  return [
    {
      kind: "no-gain",
      text: `No hedge within ${showPercent(plan.budgetRatio)} extra calls shortens the request's ${showQuantile(plan.quantile)} by 2 % or more.`,
    },
  ];
}

function loadWarnings({ load }: HedgePlan): PlanWarning[] {
  if (load === undefined) return [];
  return load.reasons.map((reason) => ({ kind: "load", text: loadText(reason, load) }));
}

function loadText(reason: LoadReason, load: LoadVerdict): string {
  switch (reason) {
    case "above-limit":
      return `Load: ${showPercent(load.resultingRatio)} is above the limit of ${showPercent(load.maxLoadRatio)}.`;
    case "near-critical":
      return `Load: the budget saturates the fleet at ${showPercent(load.budgetCriticalRatio)}, less than a fifth above the present ${showPercent(load.loadRatio)}.`;
    case "needs-cancellation":
      return "Load: above 65 % a budget alone makes the tail longer, not shorter. Losers must be cancelled while they queue: check that your servers do.";
    case "needs-budget": {
      const from =
        load.unguardedCriticalRatio === undefined
          ? ""
          : ` from ${showPercent(load.unguardedCriticalRatio)} on (one worker a server, exponential service)`;
      return `Load: without its budget this delay would feed on itself${from}. Never run it with the budget off.`;
    }
  }
}
