import { checkOption } from "../core/errors.ts";
import { checkFanOut, fanOutLaw } from "./fan-out.ts";
import { integrateSurvival, type LatencyLaw } from "./latency-law.ts";
import { meanSojourn } from "./queueing.ts";
import { harmonicNumber } from "./special-functions.ts";

/** Mean of the slowest of `fanOut` independent leaves, by quadrature; in ms. */
export function expectedMax(leaf: LatencyLaw, fanOut: number): number {
  const slowest = fanOutLaw(leaf, fanOut);
  return integrateSurvival((tMs) => slowest.survival(tMs));
}

/** The same for exponential leaves of that mean that all take `shiftMs` at least: shift + mean x H_N. */
export function expectedMaxExponential(
  fanOut: number,
  { meanMs, shiftMs = 0 }: { readonly meanMs: number; readonly shiftMs?: number },
): number {
  checkFanOut(fanOut);
  checkOption({ meanMs }, "a number > 0", meanMs > 0);
  return shiftMs + meanMs * harmonicNumber(fanOut);
}

/**
 * Mean time of a request whose `fanOut` parts queue at as many servers, each M/M/1 at that load; in mean service times.
 *
 * Exact for 1 and 2 parts (Flatto & Hahn, 1984), within 5 % up to 32. Independent queues would take H_N / (1 - r): parts
 * that arrive together wait together, which is kinder.
 * Source: Nelson & Tantawi, "Approximate Analysis of Fork/Join Synchronization in Parallel Queues", IEEE ToC 37(6), 1988.
 */
export function forkJoinMean(loadRatio: number, fanOut: number): number {
  checkFanOut(fanOut);
  const single = meanSojourn({ loadRatio });
  if (fanOut === 1) return single;
  const pair = ((12 - loadRatio) / 8) * single;
  if (fanOut === 2) return pair;
  const growth = harmonicNumber(fanOut) / harmonicNumber(2);
  return (growth + (4 / 11) * (1 - growth) * loadRatio) * pair;
}
