import { checkOption } from "../core/errors.ts";
import { type LatencyLaw, latencyQuantile } from "./latency-law.ts";

/** A pool of workers with one queue. All times here are in mean service times. */
export interface Pool {
  /** Share of the time that a worker is busy; in [0, 1). */
  readonly loadRatio: number;
  /** A whole number >= 1, default 1. */
  readonly workers?: number | undefined;
}

/**
 * Chance that an arrival has to wait, with Poisson arrivals and exponential service.
 *
 * Source: Erlang, 1917; the recursion over Erlang's B keeps every term below 1.
 */
export function erlangC(pool: Pool): number {
  const { loadRatio, workers = 1 } = checkPool(pool);
  const offered = loadRatio * workers;
  let blocked = 1;
  for (let k = 1; k <= workers; k++) blocked = (offered * blocked) / (k + offered * blocked);
  return blocked / (1 - loadRatio * (1 - blocked));
}

/** Mean wait in the queue of M/M/c. */
export function meanWait(pool: Pool): number {
  const { loadRatio, workers = 1 } = pool;
  return erlangC(pool) / (workers * (1 - loadRatio));
}

/** Mean time in an M/M/c, service included. */
export function meanSojourn(pool: Pool): number {
  return 1 + meanWait(pool);
}

/** Time in an M/M/c, service included, as a law. */
export function sojournLaw(pool: Pool): LatencyLaw {
  const waits = erlangC(pool);
  const drain = (pool.workers ?? 1) * (1 - pool.loadRatio);
  return {
    survival(t) {
      if (t <= 0) return 1;
      const served = Math.exp(-t);
      // A wait and a service in a row: two exponentials, of rates `drain` and 1.
      const both =
        Math.abs(drain - 1) < 1e-9
          ? (1 + t) * served
          : (drain * served - Math.exp(-drain * t)) / (drain - 1);
      return (1 - waits) * served + waits * both;
    },
  };
}

/** A quantile of the time in an M/M/c; quantile in [0, 1). */
export function sojournQuantile(pool: Pool, quantile: number): number {
  return latencyQuantile(sojournLaw(pool), quantile);
}

/**
 * Mean wait of M/G/1: r (1 + c^2) / 2 / (1 - r).
 *
 * @param squaredVariation - variance of the service time over its squared mean; 0 constant, 1 exponential.
 * Source: Pollaczek, 1930; Khinchin, 1932.
 */
export function pollaczekKhinchinWait(loadRatio: number, squaredVariation: number): number {
  checkPool({ loadRatio });
  checkOption({ squaredVariation }, "a number >= 0", squaredVariation >= 0);
  return (loadRatio * (1 + squaredVariation)) / 2 / (1 - loadRatio);
}

export function checkPool(pool: Pool): Pool {
  const { loadRatio, workers = 1 } = pool;
  checkOption({ loadRatio }, "a ratio in [0, 1)", loadRatio >= 0 && loadRatio < 1);
  checkOption({ workers }, "a whole number >= 1", Number.isSafeInteger(workers) && workers >= 1);
  return pool;
}
