import { checkOption } from "../core/errors.ts";
import { type Interval, MIN_EXCEEDANCES, orderStatisticRanks } from "./confidence.ts";
import type { Empirical } from "./empirical.ts";
import { leafTail, slowRequestShare } from "./fan-out.ts";
import { type FanOutHedge, hedgedRequestLaw } from "./hedged-law.ts";
import { latencyAtTail } from "./latency-law.ts";

/** A percentile of the request, predicted from the measured latency of its leaves. */
export interface Prediction extends Interval {
  /** In (0, 1). */
  readonly quantile: number;
  /** ms; Infinity where the leaves' latency is not known that far out. */
  readonly latencyMs: number;
  /** False: fewer than 3.7 measurements lie beyond what the figure rests on. It is not to be printed. */
  readonly isSupported: boolean;
}

/** 95 %, two-sided. */
const Z = 1.96;

/**
 * A percentile of a request that waits for all of its (hedged) leaves, with its interval at 95 %, in ms.
 *
 * Without a hedge the interval is that of order statistics. With one, the logarithm of the predicted tail is a sum of
 * two measured ones; its standard error is carried to the latency (delta method). Both ask for independent measurements.
 */
export function predictQuantile(
  latency: Empirical,
  hedge: FanOutHedge,
  quantile: number,
): Prediction {
  checkOption({ quantile }, "a quantile in (0, 1)", quantile > 0 && quantile < 1);
  const law = hedgedRequestLaw(latency, hedge);
  const latencyMs = latencyAtTail(law, 1 - quantile);
  if (latencyMs === Number.POSITIVE_INFINITY)
    return { quantile, latencyMs, low: latency.maxMs, high: undefined, isSupported: false };

  const helps = (hedge.probability ?? 1) > 0 && latencyMs > hedge.delayMs;
  const { low, high, beyond } = helps
    ? hedgedInterval(latency, hedge, { quantile, latencyMs })
    : plainInterval(latency, hedge, { quantile, latencyMs });
  const isSupported = beyond >= MIN_EXCEEDANCES;
  return {
    quantile,
    latencyMs,
    low: Math.min(low, latencyMs),
    high: high === undefined ? undefined : Math.max(high, latencyMs),
    isSupported,
  };
}

interface Point {
  readonly quantile: number;
  readonly latencyMs: number;
}

/** The interval, and how many measurements lie beyond what it rests on. */
interface Supported extends Interval {
  readonly beyond: number;
}

function plainInterval(latency: Empirical, hedge: FanOutHedge, point: Point): Supported {
  // With leaves that are slow together the share at the leaf is measured where the prediction stands.
  const leafSlow =
    (hedge.leafCorrelation ?? 0) === 0
      ? leafTail(1 - point.quantile, hedge.fanOut)
      : latency.survival(point.latencyMs);
  const { count } = latency;
  // Where no latency lies beyond, nothing is known of it; one part in 10^15 is no part of a double below 1.
  if (leafSlow < 1e-15) return { low: 0, high: undefined, beyond: 0 };
  if (leafSlow >= 1) return { low: 0, high: latency.minMs, beyond: count };
  const ranks = orderStatisticRanks({ count, quantile: 1 - leafSlow });
  const high = ranks.high === undefined ? Number.POSITIVE_INFINITY : latency.atRank(ranks.high);
  return {
    low: ranks.low < 1 ? 0 : latency.atRank(ranks.low),
    high: high === Number.POSITIVE_INFINITY ? undefined : high,
    beyond: count * leafSlow,
  };
}

function hedgedInterval(latency: Empirical, hedge: FanOutHedge, point: Point): Supported {
  const { count } = latency;
  const slow = latency.survival(point.latencyMs);
  // The copy's law is measured too; where it is the primary's own, in the same sample.
  const backup = hedge.backup ?? latency;
  const copySlow = backup.survival(point.latencyMs - hedge.delayMs);
  const beyond = count * slow;
  if (slow <= 0) return { low: 0, high: undefined, beyond: 0 };

  const helps = (hedge.probability ?? 1) * (1 - (hedge.replicaCorrelation ?? 0));
  const factor = 1 - helps * (1 - copySlow);
  // d ln(factor) / d ln(copySlow): how much of an error of the copy's tail comes through.
  const weight = factor > 0 ? (helps * copySlow) / factor : 0;
  const slowVariance = (1 - slow) / (count * slow);
  const copyVariance = copySlow > 0 ? (1 - copySlow) / (count * copySlow) : 0;
  const covariance = hedge.backup === undefined ? copyVariance : 0;
  const deviation = Math.sqrt(
    slowVariance + weight * weight * copyVariance + 2 * weight * covariance,
  );

  const law = hedgedRequestLaw(latency, hedge);
  const leafShare = leafTail(1 - point.quantile, hedge.fanOut);
  const at = (logShift: number): number => {
    const share = Math.min(1, leafShare * Math.exp(logShift));
    return latencyAtTail(law, slowRequestShare(share, hedge.fanOut));
  };
  const high = at(-Z * deviation);
  // Beyond the largest measured latency nothing bounds it.
  const isBounded = high < Number.POSITIVE_INFINITY && latency.survival(high * (1 - 1e-9)) > 0;
  return { low: at(Z * deviation), high: isBounded ? high : undefined, beyond };
}
