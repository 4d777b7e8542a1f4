import { checkOption } from "../core/errors.ts";
import { type Cliff, cliffAt } from "./cliff.ts";
import type { Empirical } from "./empirical.ts";
import { checkFanOut, leafQuantile, leafTail, maxFanOut } from "./fan-out.ts";
import { delayWithin } from "./hedge-delay.ts";
import { type FanOutHedge, hedgedLaw, hedgedRequestLaw, hedgesPerCall } from "./hedged-law.ts";
import { judgeLoad, type LoadVerdict } from "./load-verdict.ts";
import { adviseFanOut, type FanOutAdvice } from "./lower-fan-out.ts";
import { type Prediction, predictQuantile } from "./prediction.ts";
import { type CorrelationEstimate, replicaCorrelation } from "./replica-correlation.ts";
import { type LatencyPair, singleR, singleRFromPairs } from "./single-r.ts";

export interface HedgePlanOptions {
  /** Latency of one leaf, left alone: measured in a quiet period, cancelled losers as censored. */
  readonly latency: Empirical;
  /** Latency of a second copy, from when it is sent; default the same. */
  readonly backup?: Empirical | undefined;
  /** Leaves that one request waits for; a whole number >= 1, default 1. */
  readonly fanOut?: number | undefined;
  /** The percentile of the request that is to be short; in (0, 1), default 0.99. */
  readonly quantile?: number | undefined;
  /** What that percentile is to meet, ms > 0; default none. */
  readonly withinMs?: number | undefined;
  /** Second copies per call, at most; in (0, 1], default 0.05. */
  readonly budgetRatio?: number | undefined;
  /** Load of the leaves without hedges; in [0, 1). Default: not known, and not judged. */
  readonly loadRatio?: number | undefined;
  /** Load that must not be passed; in (0, 1), default 0.8. */
  readonly maxLoadRatio?: number | undefined;
  /** Share of a second copy's work that cancelling the loser saves; in [0, 1], default 0. */
  readonly cancelSavingRatio?: number | undefined;
  /** Calls of which both copies ran to their end. Given, they tell the replicas' correlation. */
  readonly pairs?: readonly LatencyPair[] | undefined;
  /** Chance that a copy meets what the first met; in [0, 1], default 0 or what the pairs tell. */
  readonly replicaCorrelation?: number | undefined;
  /** Share of a leaf's slowness that strikes all leaves of a request at once; in [0, 1], default 0. */
  readonly leafCorrelation?: number | undefined;
}

/** One way to call the leaves, its gain and its cost side by side. */
export interface PlanRow {
  readonly kind: "no-hedge" | "budget-delay" | "best";
  /** ms; Infinity: never. */
  readonly delayMs: number;
  readonly probability: number;
  /** Second copies per call. */
  readonly extraRatio: number;
  /** p50, p99, p99.9 of the request, and the percentile asked for where it is another. */
  readonly predictions: readonly Prediction[];
  /** Largest fan-out that meets the objective; undefined without one. */
  readonly maxFanOut: number | undefined;
  /** Share of the requests that is later than the objective; undefined without one. */
  readonly lateRatio: number | undefined;
}

/** What a leaf must do so that the request's percentile is met. */
export interface LeafTarget {
  /** Of the request. */
  readonly quantile: number;
  /** Of each leaf. */
  readonly leafQuantile: number;
  readonly oneSlowCallIn: number;
}

export interface HedgePlan {
  readonly count: number;
  readonly fanOut: number;
  readonly quantile: number;
  readonly withinMs: number | undefined;
  readonly budgetRatio: number;
  readonly leafTargets: readonly LeafTarget[];
  /** No hedge; the smallest measured delay within the budget; SingleR within the budget. */
  readonly rows: readonly PlanRow[];
  /** The row to use. */
  readonly proposed: PlanRow;
  /** Present when a load was given. */
  readonly load: LoadVerdict | undefined;
  /** Present when an objective was given that no row meets. */
  readonly advice: FanOutAdvice | undefined;
  /** Percentiles of the proposed row, and of no hedge, that stand on a cliff. */
  readonly cliffs: readonly PlanCliff[];
  readonly correlation: CorrelationEstimate | undefined;
  readonly replicaCorrelation: number;
}

export interface PlanCliff extends Cliff {
  readonly kind: PlanRow["kind"];
  readonly quantile: number;
}

/** A hedge that shortens the asked percentile by less is not worth its load. */
const MIN_GAIN = 0.02;

/**
 * From measured latencies to a hedge: leaf targets, the delay that fits the budget, the best delay and probability,
 * the request's percentiles with and without, the load, and what to do where no hedge is enough.
 *
 * Throws `ERR_BOBTAIL_OPTION` for an option out of range.
 */
export function planHedge(options: HedgePlanOptions): HedgePlan {
  const { latency, fanOut = 1, quantile = 0.99, budgetRatio = 0.05, withinMs } = options;
  checkFanOut(fanOut);
  checkOption({ quantile }, "a quantile in (0, 1)", quantile > 0 && quantile < 1);
  checkOption({ budgetRatio }, "a ratio in (0, 1]", budgetRatio > 0 && budgetRatio <= 1);
  checkOption({ withinMs }, "a number > 0", withinMs === undefined || withinMs > 0);
  const correlation = estimateCorrelation(options);
  const shared = options.replicaCorrelation ?? certainRatio(correlation);
  const hedge = (delayMs: number, probability: number): FanOutHedge => ({
    fanOut,
    delayMs,
    probability,
    backup: options.backup,
    replicaCorrelation: shared,
    leafCorrelation: options.leafCorrelation,
  });
  const leafGoal = 1 - leafTail(1 - quantile, fanOut);
  const search = { primary: latency, quantile: leafGoal, budgetRatio };
  const best =
    options.pairs !== undefined && options.pairs.length > 0
      ? singleRFromPairs({ ...search, pairs: options.pairs })
      : singleR({ ...search, backup: options.backup, replicaCorrelation: shared });
  const rows: PlanRow[] = [
    planRow("no-hedge", options, hedge(Number.POSITIVE_INFINITY, 0)),
    planRow("budget-delay", options, hedge(delayWithin(latency, budgetRatio), 1)),
    planRow("best", options, hedge(best.delayMs, best.probability)),
  ];
  const proposed = propose(rows, quantile);
  const load = judgeLoad(options, proposed);
  return {
    count: latency.count,
    fanOut,
    quantile,
    withinMs,
    budgetRatio,
    leafTargets: asked(quantile).map((q) => ({
      quantile: q,
      leafQuantile: leafQuantile(q, fanOut),
      oneSlowCallIn: 1 / leafTail(1 - q, fanOut),
    })),
    rows,
    proposed,
    load,
    advice: withinMs === undefined ? undefined : advise(options, hedge, proposed),
    cliffs: findCliffs(options, hedge, rows, proposed),
    correlation,
    replicaCorrelation: shared,
  };
}

/** Where slow begins is not known beforehand: each of these is tried. */
const SLOW_QUANTILES = [0.9, 0.95, 0.98, 0.99, 0.995] as const;
/** Fewer slow first copies tell nothing. */
const MIN_SLOW = 30;

/** The estimate of which most is certain: with the bar among the stalls part of a shared cause is not seen. */
function estimateCorrelation({
  latency,
  pairs,
}: HedgePlanOptions): CorrelationEstimate | undefined {
  if (pairs === undefined) return undefined;
  let best: CorrelationEstimate | undefined;
  for (const quantile of SLOW_QUANTILES) {
    const estimate = replicaCorrelation(pairs, latency.quantile(quantile));
    if (estimate === undefined || (best !== undefined && estimate.slowPrimaries < MIN_SLOW))
      continue;
    if (best === undefined || estimate.low > best.low) best = estimate;
  }
  return best;
}

/** What chance explains is not planned with. */
function certainRatio(estimate: CorrelationEstimate | undefined): number {
  return estimate === undefined || estimate.low <= 0 ? 0 : estimate.ratio;
}

function asked(quantile: number): number[] {
  return [...new Set([0.5, 0.99, 0.999, quantile])].sort((a, b) => a - b);
}

function planRow(kind: PlanRow["kind"], options: HedgePlanOptions, hedge: FanOutHedge): PlanRow {
  const { latency, quantile = 0.99, withinMs } = options;
  const lateRatio =
    withinMs === undefined ? undefined : hedgedRequestLaw(latency, hedge).survival(withinMs);
  return {
    kind,
    delayMs: hedge.delayMs,
    probability: hedge.probability ?? 1,
    extraRatio: hedgesPerCall(latency, hedge),
    predictions: asked(quantile).map((q) => predictQuantile(latency, hedge, q)),
    lateRatio,
    maxFanOut: withinMs === undefined ? undefined : largestFanOut(options, hedge, withinMs),
  };
}

/** With leaves that are slow together there is no closed form: bisection over the request's law. */
function largestFanOut(options: HedgePlanOptions, hedge: FanOutHedge, withinMs: number): number {
  const { latency, quantile = 0.99 } = options;
  const alone = { ...hedge, leafCorrelation: 0 };
  if ((hedge.leafCorrelation ?? 0) === 0)
    return maxFanOut(hedgedLaw(latency, alone).survival(withinMs), quantile);
  const late = (fanOut: number): number =>
    hedgedRequestLaw(latency, { ...hedge, fanOut }).survival(withinMs);
  let enough = 0;
  let tooMany = 2 ** 40;
  if (late(tooMany) <= 1 - quantile) return Number.POSITIVE_INFINITY;
  while (tooMany - enough > 1) {
    const middle = Math.floor((enough + tooMany) / 2);
    if (late(middle) <= 1 - quantile) enough = middle;
    else tooMany = middle;
  }
  return enough;
}

/**
 * Of the rows within 2 % of the shortest asked percentile, the simplest within 2 % of their shortest median.
 *
 * A percentile just beyond a cliff is long whatever one does; what a hedge does for the other requests still counts.
 */
function propose(rows: readonly PlanRow[], quantile: number): PlanRow {
  let good = rows;
  for (const q of [quantile, 0.5]) {
    const shortest = Math.min(...good.map((row) => latencyOf(row, q)));
    good = good.filter((row) => latencyOf(row, q) <= shortest * (1 + MIN_GAIN));
  }
  return good[0] ?? (rows[0] as PlanRow);
}

function latencyOf(row: PlanRow, quantile: number): number {
  return (
    row.predictions.find((p) => p.quantile === quantile)?.latencyMs ?? Number.POSITIVE_INFINITY
  );
}

function advise(
  options: HedgePlanOptions,
  hedge: (delayMs: number, probability: number) => FanOutHedge,
  { delayMs, probability }: PlanRow,
): FanOutAdvice | undefined {
  const { latency, fanOut = 1, quantile = 0.99, withinMs = 0 } = options;
  const leaf = hedgedLaw(latency, hedge(delayMs, probability));
  return adviseFanOut(leaf, { fanOut, quantile, withinMs });
}

function findCliffs(
  { latency }: HedgePlanOptions,
  hedge: (delayMs: number, probability: number) => FanOutHedge,
  rows: readonly PlanRow[],
  proposed: PlanRow,
): PlanCliff[] {
  const shown = rows.filter((row) => row.kind === "no-hedge" || row === proposed);
  return shown.flatMap((row) => {
    const law = hedgedRequestLaw(latency, hedge(row.delayMs, row.probability));
    return row.predictions.flatMap(({ quantile, isSupported }) => {
      const cliff = isSupported ? cliffAt(law, 1 - quantile) : undefined;
      return cliff === undefined ? [] : [{ ...cliff, kind: row.kind, quantile }];
    });
  });
}
