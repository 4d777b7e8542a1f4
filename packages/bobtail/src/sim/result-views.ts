import type { Histogram } from "../core/histogram.ts";
import { type Interval, intervalOf } from "./interval.ts";
import type { SimResult } from "./result.ts";

/** A quantile of the calls that succeeded (of roots, where the world has them), ms. */
export function quantileMs(r: SimResult, quantile: number): number {
  return latencyOf(r).quantile(quantile) / 1000;
}

/** The same with failures counted, each at the time it was waited for. */
export function quantileOfAllMs(r: SimResult, quantile: number): number {
  const all = r.latency.clone();
  all.add(r.failedAfter);
  return all.quantile(quantile) / 1000;
}

export function meanMs(r: SimResult): number {
  return latencyOf(r).mean / 1000;
}

/** Extra attempts for each call. */
export function extraRatio(r: SimResult): number {
  return (r.hedgeCount + r.retryCount) / r.callCount;
}

export function failedRatio(r: SimResult): number {
  return r.failedCount / r.callCount;
}

/** The share of all copies that came to that server. */
export function shareOf(r: SimResult, server: number): number {
  const all = r.servers.reduce((sum, s) => sum + s.sentCount, 0);
  return (r.servers[server]?.sentCount ?? 0) / all;
}

/** The share of time that the fleet's workers worked; NaN where workers are without limit. */
export function busyRatio(r: SimResult): number {
  const workers = r.servers.reduce((sum, s) => sum + s.workers, 0);
  const busyMs = r.servers.reduce((sum, s) => sum + s.busyMs, 0);
  return workers === 0 ? Number.NaN : busyMs / (workers * r.measuredMs);
}

/** How far the run is from Little's law, L = lambda T, as a share; rounding apart it is 0, or the bookkeeping is wrong. */
export function littleError(r: SimResult): number {
  return Math.abs(r.inSystemMs / r.sojournMs - 1);
}

/** The share of servers (over time) that held at least so many copies. Needs `occupancy`. */
export function heldAtLeast(r: SimResult, count: number): number {
  const held = r.occupancy?.heldMs ?? [];
  const sum = held.reduce((total, ms) => total + ms, 0);
  return held.slice(count).reduce((total, ms) => total + ms, 0) / sum;
}

/** The share of arrivals at servers that met at least so many copies. Needs `occupancy`. */
export function metAtLeast(r: SimResult, count: number): number {
  const seen = r.occupancy?.seenCount ?? [];
  const sum = seen.reduce((total, n) => total + n, 0);
  return seen.slice(count).reduce((total, n) => total + n, 0) / sum;
}

/** An interval for a statistic of the latency, from its values in consecutive batches: never from single requests, which depend on each other. */
export function batchInterval(r: SimResult, statistic: (h: Histogram) => number): Interval {
  return intervalOf(r.batches.filter((batch) => batch.count > 0).map(statistic));
}

/** Between statistics of whole runs. */
export function replicationInterval(
  results: readonly SimResult[],
  statistic: (r: SimResult) => number,
): Interval {
  return intervalOf(results.map(statistic));
}

function latencyOf(r: SimResult): Histogram {
  return r.root.count > 0 ? r.root : r.latency;
}
