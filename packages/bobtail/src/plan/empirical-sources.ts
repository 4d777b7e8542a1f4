import { checkOption } from "../core/errors.ts";
import type { Histogram } from "../core/histogram.ts";
import { decodeContent } from "../core/histogram-codec.ts";
import { bucketMiddle } from "../core/histogram-layout.ts";
import { checkLatency, Empirical } from "./empirical.ts";
import { type LatencyLaw, latencyAtTail } from "./latency-law.ts";

/**
 * A histogram as a law, to the histogram's resolution.
 *
 * @param msPerUnit - what one whole unit of its values is; 0.001 for microseconds.
 * Throws `ERR_BOBTAIL_OPTION` when it is empty.
 */
export function empiricalFromHistogram(histogram: Histogram, msPerUnit: number): Empirical {
  checkOption({ histogram: histogram.count }, "at least one value", histogram.count > 0);
  const { counts, bits, min, max } = decodeContent(histogram.encode());
  const points: WeightedLatency[] = [];
  for (let index = 0; index < counts.length; index++) {
    const weight = counts[index] as number;
    if (weight === 0) continue;
    const middle = Math.max(min, Math.min(bucketMiddle(index, bits), max));
    points.push({ latencyMs: middle * msPerUnit, weight });
  }
  return empiricalFromWeights(points, { count: histogram.count });
}

/** A latency and how often it occurred. */
export interface WeightedLatency {
  readonly latencyMs: number;
  /** Above 0. */
  readonly weight: number;
}

/** @param beyond - weight of latencies that are longer than every one listed; default 0. */
export function empiricalFromWeights(
  points: readonly WeightedLatency[],
  { count, beyond = 0 }: { readonly count: number; readonly beyond?: number },
): Empirical {
  checkOption({ points: points.length }, "at least one latency", points.length > 0);
  const sorted = [...points].sort((a, b) => a.latencyMs - b.latencyMs);
  const valuesMs: Float64Array = new Float64Array(sorted.length);
  const cumulative: Float64Array = new Float64Array(sorted.length);
  let total = 0;
  sorted.forEach((point, i) => {
    checkLatency(point.latencyMs);
    total += point.weight;
    valuesMs[i] = point.latencyMs;
    cumulative[i] = total;
  });
  return new Empirical({ valuesMs, cumulative, totalWeight: total + beyond, count });
}

/** One bucket of a histogram that counts by upper bounds. */
export interface LatencyBucket {
  /** Above the bound of the bucket before it; Infinity for the last one, where there is such a one. */
  readonly upToMs: number;
  /** Latencies in this bucket alone; >= 0. */
  readonly count: number;
}

/** Points that stand for the evenly spread latencies of one bucket. */
const POINTS_PER_BUCKET = 64;

/**
 * Buckets, narrowest bound first. Inside a bucket latencies are taken as evenly spread, which is what
 * `histogram_quantile` does too; those in an infinite bucket are longer than the last bound by an unknown amount.
 *
 * Throws `ERR_BOBTAIL_OPTION` for bounds that do not rise, and when no bucket with a bound holds anything.
 */
export function empiricalFromBuckets(buckets: readonly LatencyBucket[]): Empirical {
  const points: WeightedLatency[] = [];
  let fromMs = 0;
  let count = 0;
  let beyond = 0;
  for (const bucket of buckets) {
    checkOption({ bucket }, "a count >= 0", bucket.count >= 0);
    checkOption({ upToMs: bucket.upToMs }, `a bound above ${fromMs}`, bucket.upToMs > fromMs);
    count += bucket.count;
    if (bucket.upToMs === Number.POSITIVE_INFINITY) beyond += bucket.count;
    else if (bucket.count > 0) {
      const stepMs = (bucket.upToMs - fromMs) / POINTS_PER_BUCKET;
      for (let i = 1; i <= POINTS_PER_BUCKET; i++)
        points.push({ latencyMs: fromMs + i * stepMs, weight: bucket.count / POINTS_PER_BUCKET });
    }
    fromMs = bucket.upToMs;
  }
  // Rates are fractions; whole latencies stand behind them.
  return empiricalFromWeights(points, { count: Math.max(1, Math.floor(count)), beyond });
}

/** A latency, and whether it was seen to end: a cancelled loser of a hedge was only seen to last that long. */
export interface CensoredLatency {
  readonly latencyMs: number;
  readonly ended: boolean;
  /** How often; a whole number >= 1, default 1. */
  readonly count?: number | undefined;
}

/**
 * The law behind latencies of which some were cut short: the product-limit estimate. O(n log n).
 *
 * Right as long as what cuts knows nothing of what is cut. Where the longest were cut, part of the weight
 * lies beyond every value.
 * Source: Kaplan & Meier, "Nonparametric Estimation from Incomplete Observations", JASA 53, 1958.
 */
export function empiricalFromCensored(samples: readonly CensoredLatency[]): Empirical {
  // At equal times an end comes before a cut: the cut one was still at risk.
  const sorted = [...samples].sort(
    (a, b) => a.latencyMs - b.latencyMs || Number(b.ended) - Number(a.ended),
  );
  const points: WeightedLatency[] = [];
  const total = sorted.reduce((sum, sample) => sum + (sample.count ?? 1), 0);
  let atRisk = total;
  let survival = 1;
  for (let i = 0; i < sorted.length; ) {
    const { latencyMs } = sorted[i] as CensoredLatency;
    let ended = 0;
    let left = 0;
    for (; i < sorted.length && (sorted[i] as CensoredLatency).latencyMs === latencyMs; i++) {
      const { count = 1, ended: isEnd } = sorted[i] as CensoredLatency;
      left += count;
      if (isEnd) ended += count;
    }
    if (ended > 0) {
      const weight = (survival * ended) / atRisk;
      points.push({ latencyMs, weight });
      survival -= weight;
    }
    atRisk -= left;
  }
  const beyond = survival < 1e-12 ? 0 : survival;
  return empiricalFromWeights(points, { count: total, beyond });
}

/** Any law as points at evenly spread ranks and far into its tail; `points` in [100, 1e6], default 4,000. */
export function empiricalFromLaw(law: LatencyLaw, points: number = 4_000): Empirical {
  checkOption({ points }, "a number in [100, 1000000]", points >= 100 && points <= 1e6);
  const weights: WeightedLatency[] = [];
  const body = 1 / points;
  let tail = 1;
  while (tail > 1e-9) {
    // Even steps in the body, geometric ones where those are finer, each point in the middle of its step.
    const step = Math.min(body, tail * 0.02);
    weights.push({ latencyMs: latencyAtTail(law, Math.max(0, tail - step / 2)), weight: step });
    tail -= step;
  }
  const known = weights.filter((point) => point.latencyMs < Number.POSITIVE_INFINITY);
  const beyond = weights.reduce((sum, point) => sum + point.weight, 0);
  const inside = known.reduce((sum, point) => sum + point.weight, 0);
  return empiricalFromWeights(known, { count: points, beyond: Math.max(0, beyond - inside) });
}
