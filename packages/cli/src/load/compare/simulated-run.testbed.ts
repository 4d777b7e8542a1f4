import type { Rng } from "bobtail/engine";
import { QUANTITIES, QUANTITY_NAMES, type QuantityName, type RunFigures } from "./quantity.ts";

/** A service as a load generator of 500 requests a second sees it for 60 s. */
export interface SimulatedService {
  readonly medianMs: number;
  /** Of the log-logistic law of a request's own time: 0.25 puts the p99 at 3.2 medians. */
  readonly shape: number;
  /** All that come while it stands still wait for its end. */
  readonly stalls?: { readonly perRun: number; readonly fromMs: number; readonly toMs: number };
  readonly failedRatio?: number;
}

export const REQUESTS = 30_000;
export const RUN_MS = 60_000;

const QUANTILE_NAMES: readonly QuantityName[] = ["p50", "p90", "p99", "p99.9"];

/**
 * The percentiles of one simulated run, each the value of rank ceil(q n) among its requests.
 *
 * Only requests that met a stall are drawn one by one. The others are independent, so of them just the order statistics that
 * the ranks ask for are drawn, each from its law given those already known: the joint law is that of the whole sample.
 * Source: David & Nagaraja, "Order Statistics", 3rd ed., 2003, theorem 2.5.
 */
export function simulateRun(service: SimulatedService, rng: Rng): RunFigures {
  const slow = stalledMs(service, rng).sort((a, b) => a - b);
  const failed = binomial(REQUESTS, service.failedRatio ?? 0, rng);
  const body = new OrderStatistics(REQUESTS - failed - slow.length, rng);
  const msOfRank = (rank: number): number => valueMs(service, body.at(rank));
  const figures: Partial<Record<QuantityName, number>> = {};
  for (const name of QUANTILE_NAMES) {
    const rank = Math.ceil((QUANTITIES[name].quantile ?? 0) * REQUESTS - 1e-6);
    figures[name] =
      rank > REQUESTS - failed ? Infinity : unionRank(rank, slow, msOfRank, body.count);
  }
  const rest = {
    errors: failed / REQUESTS,
    rate: (REQUESTS - failed) / (RUN_MS / 1_000),
  };
  return Object.fromEntries(
    QUANTITY_NAMES.map((name) => [name, { ...figures, ...rest }[name]]),
  ) as RunFigures;
}

/** The same run with every request drawn: what the quick way is held against. */
export function simulateEveryRequest(service: SimulatedService, rng: Rng): number[] {
  const slow = stalledMs(service, rng);
  const rest = Array.from({ length: REQUESTS - slow.length }, () => drawMs(service, rng));
  const all = Float64Array.from([...slow, ...rest]).sort();
  return QUANTILE_NAMES.map(
    (name) => all[Math.ceil((QUANTITIES[name].quantile ?? 0) * REQUESTS - 1e-6) - 1] as number,
  );
}

/** A request's own time. */
export function drawMs(service: SimulatedService, rng: Rng): number {
  return valueMs(service, (rng.next() * 4_294_967_296 + 0.5) / 4_294_967_296);
}

/** When it stands still, and for how long. */
export function drawStalls(
  { stalls }: SimulatedService,
  rng: Rng,
): readonly { readonly atMs: number; readonly lengthMs: number }[] {
  if (stalls === undefined) return [];
  const { perRun, fromMs, toMs } = stalls;
  const drawn: { atMs: number; lengthMs: number }[] = [];
  for (let atMs = exponential(rng) * (RUN_MS / perRun); atMs < RUN_MS; ) {
    drawn.push({ atMs, lengthMs: fromMs + (toMs - fromMs) * rng.next() });
    atMs += exponential(rng) * (RUN_MS / perRun);
  }
  return drawn;
}

function stalledMs(service: SimulatedService, rng: Rng): number[] {
  return drawStalls(service, rng).flatMap(({ lengthMs }) =>
    Array.from(
      { length: binomial(REQUESTS, lengthMs / RUN_MS, rng) },
      () => lengthMs * rng.next() + drawMs(service, rng),
    ),
  );
}

/** The value of that rank among the sorted `few` and `count` others, of which the value at each rank is known. */
function unionRank(
  rank: number,
  few: readonly number[],
  at: (rank: number) => number,
  count: number,
): number {
  // The most others that can be below it, such that they and the few below the last of them are fewer than `rank`.
  let low = Math.max(0, rank - few.length - 1);
  let high = Math.min(count + 1, rank);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (middle + countBelow(few, at(middle)) < rank) low = middle;
    else high = middle;
  }
  const fromFew = few[rank - low - 1] ?? Infinity;
  return Math.min(fromFew, low + 1 > count ? Infinity : at(low + 1));
}

function countBelow(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The ordered values of `count` uniform draws, of which only those asked for are made. */
class OrderStatistics {
  readonly count: number;
  private readonly rng: Rng;
  private readonly ranks: number[];
  private readonly values: number[];

  constructor(count: number, rng: Rng) {
    this.count = count;
    this.rng = rng;
    this.ranks = [0, count + 1];
    this.values = [0, 1];
  }

  /** @param rank - from 1. */
  at(rank: number): number {
    const next = this.ranks.findIndex((known) => known >= rank);
    const [nextRank, lastRank] = [this.ranks[next] as number, this.ranks[next - 1] as number];
    const [nextValue, lastValue] = [this.values[next] as number, this.values[next - 1] as number];
    if (nextRank === rank) return nextValue;
    const below = gamma(rank - lastRank, this.rng);
    const above = gamma(nextRank - rank, this.rng);
    const value = lastValue + (nextValue - lastValue) * (below / (below + above));
    this.ranks.splice(next, 0, rank);
    this.values.splice(next, 0, value);
    return value;
  }
}

function valueMs({ medianMs, shape }: SimulatedService, uniform: number): number {
  return medianMs * (uniform / (1 - uniform)) ** shape;
}

function exponential(rng: Rng): number {
  return -Math.log(1 - rng.next());
}

/** By the gaps between successes, which are few. */
function binomial(trials: number, ratio: number, rng: Rng): number {
  if (ratio === 0) return 0;
  let successes = 0;
  for (let at = 0; ; successes++) {
    at += 1 + Math.floor(-exponential(rng) / Math.log1p(-ratio));
    if (at > trials) return successes;
  }
}

/** Source: Marsaglia & Tsang, "A simple method for generating gamma variables", ACM TOMS 26, 2000. `shape` >= 1. */
function gamma(shape: number, rng: Rng): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = Math.sqrt(2 * exponential(rng)) * Math.cos(2 * Math.PI * rng.next());
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - rng.next()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}
