import { Histogram } from "bobtail/engine";
import { type IdealFleet, type IdealOutcome, runIdealQueue } from "./ideal-queue.ts";
import type { Oracle } from "./oracle.ts";

/** Simulated for each hedge delay that is tried: the p99.9 is known to about 1.5 %. */
const REQUESTS = 100_000;
const SEED = 1;
/** The delays: quantiles of the response time without hedges. From the first on, second copies are at most some 5 % of the requests. */
const DELAY_QUANTILES = [0.95, 0.97, 0.99];
const MAX_CACHED = 64;

/** A part of the run during which the fleet stays the same. */
export interface Regime {
  /** Share of the measured time; they sum to 1. */
  readonly timeRatio: number;
  readonly fleet: IdealFleet;
}

export interface OracleWords {
  readonly sickShareRatio: number;
  readonly how: Oracle["how"];
  readonly why: string;
}

type Times = Pick<Oracle, "p50Ms" | "p99Ms" | "p999Ms" | "extraRatio">;

const cache = new Map<string, Times>();

/**
 * The best that one queue before all useful workers gives, hedged or not: each percentile is the least over several
 * hedge delays, of which a balancer would have to choose one. Nobody fails: what could is sent elsewhere.
 */
export function idealOracle(regimes: readonly Regime[], words: OracleWords): Oracle {
  const key = JSON.stringify(regimes);
  let times = cache.get(key);
  if (times === undefined) {
    times = bestTimes(regimes);
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(key, times);
  }
  return { ...times, failedRatio: 0, ...words };
}

function bestTimes(regimes: readonly Regime[]): Times {
  const plain = play(regimes, Number.POSITIVE_INFINITY);
  const outcomes = DELAY_QUANTILES.map((quantile) =>
    play(regimes, plain.latency.quantile(quantile) / 1_000),
  );
  outcomes.unshift(plain);
  const least = (quantile: number): number =>
    Math.min(...outcomes.map(({ latency }) => latency.quantile(quantile))) / 1_000;
  const p99Ms = least(0.99);
  const best = outcomes.find(({ latency }) => latency.quantile(0.99) / 1_000 === p99Ms) ?? plain;
  const extraRatio = best.extraCount / best.latency.count;
  return { p50Ms: least(0.5), p99Ms, p999Ms: least(0.999), extraRatio };
}

/** All regimes, each with its share of the requests. */
function play(regimes: readonly Regime[], hedgeAfterMs: number): IdealOutcome {
  const latency = new Histogram();
  let extraCount = 0;
  for (const { timeRatio, fleet } of regimes) {
    const requests = Math.round(REQUESTS * timeRatio);
    if (requests === 0) continue;
    const outcome = runIdealQueue(fleet, { hedgeAfterMs, requests, seed: SEED });
    latency.add(outcome.latency);
    extraCount += outcome.extraCount;
  }
  return { latency, extraCount };
}
