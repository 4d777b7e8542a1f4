/**
 * `bobtail/plan`: the arithmetic of fan-out, hedging and confidence. Pure functions, in the field's own names; latencies in
 * ms, ratios in [0, 1], loads as the busy share of the workers.
 */
export { Histogram, type HistogramOptions } from "./core/histogram.ts";
export {
  type Binomial,
  binomialAtLeast,
  binomialAtMost,
  binomialQuantile,
} from "./plan/binomial.ts";
export { type BurstNeeds, budgetBurst } from "./plan/budget-burst.ts";
export { type Cliff, cliffAt } from "./plan/cliff.ts";
export {
  type Interval,
  isSupported,
  MIN_EXCEEDANCES,
  type OrderStatistic,
  orderStatisticRanks,
  quantileInterval,
  samplesForInterval,
  samplesForTail,
  samplesForUpperBound,
  wilsonInterval,
} from "./plan/confidence.ts";
export { Empirical, empirical, type QuantileConvention } from "./plan/empirical.ts";
export {
  type CensoredLatency,
  empiricalFromBuckets,
  empiricalFromCensored,
  empiricalFromHistogram,
  empiricalFromLaw,
  empiricalFromWeights,
  type LatencyBucket,
  type WeightedLatency,
} from "./plan/empirical-sources.ts";
export { expectedMax, expectedMaxExponential, forkJoinMean } from "./plan/expected-max.ts";
export {
  enoughOfLaw,
  fanOutLaw,
  fanOutQuantile,
  fastestOf,
  leafQuantile,
  leafTail,
  maxFanOut,
  medianFanOut,
  slowestOf,
  slowRequestShare,
} from "./plan/fan-out.ts";
export { delayWithin, extraLoad, pickDelay } from "./plan/hedge-delay.ts";
export {
  type HedgePlan,
  type HedgePlanOptions,
  type LeafTarget,
  type PlanCliff,
  type PlanRow,
  planHedge,
} from "./plan/hedge-plan.ts";
export {
  bothSlowShare,
  type CommonShock,
  commonShockShare,
  type FanOutHedge,
  type HedgeShape,
  hedgedCommonShockShare,
  hedgedLaw,
  hedgedRequestLaw,
  hedgesPerCall,
} from "./plan/hedged-law.ts";
export {
  exponentialLaw,
  lognormalLaw,
  type Stall,
  stalledLaw,
  uniformLaw,
} from "./plan/known-laws.ts";
export { type LatencyLaw, latencyAtTail, latencyQuantile, meanOfLaw } from "./plan/latency-law.ts";
export { judgeLoad, type LoadReason, type LoadVerdict } from "./plan/load-verdict.ts";
export { adviseFanOut, type FanOutAdvice, type Objective } from "./plan/lower-fan-out.ts";
export {
  budgetCriticalLoad,
  criticalLoad,
  hedgeEquilibrium,
  loadWithHedges,
  type ResultingLoad,
  retryAmplification,
  throttleFailureRatio,
  type UnguardedHedge,
} from "./plan/metastable.ts";
export {
  blindShare,
  type ExceedanceTest,
  exceedanceThreshold,
  maskedDeviation,
} from "./plan/outlier-arithmetic.ts";
export { type Prediction, predictQuantile } from "./plan/prediction.ts";
export {
  erlangC,
  meanSojourn,
  meanWait,
  type Pool,
  pollaczekKhinchinWait,
  sojournLaw,
  sojournQuantile,
} from "./plan/queueing.ts";
export {
  DUPLICATION_THRESHOLD,
  leastWorkMean,
  type Redundancy,
  redundancyMean,
  tiedDuplicateShare,
} from "./plan/redundancy.ts";
export { type CorrelationEstimate, replicaCorrelation } from "./plan/replica-correlation.ts";
export { type SerialOptions, serialChain } from "./plan/serial-chain.ts";
export {
  exponentialSingleD,
  exponentialSingleR,
  type LatencyPair,
  type PairedSearch,
  type ReissuePolicy,
  type ReissueSearch,
  singleD,
  singleR,
  singleRFromPairs,
} from "./plan/single-r.ts";
export { harmonicNumber, normalQuantile, normalTail } from "./plan/special-functions.ts";
export {
  allBadRatio,
  poolingLoss,
  type Subset,
  type SubsetNeeds,
  subsetSize,
} from "./plan/subset-size.ts";
export {
  type ChoicesModel,
  choicesLaw,
  choicesMean,
  choicesQuantile,
  queueAtLeast,
} from "./plan/supermarket.ts";
