import { checkOption } from "../core/errors.ts";
import { integrateSurvival } from "./latency-law.ts";

/** Single-worker servers, Poisson arrivals, exponential service; times in mean service times. */
export interface Redundancy {
  /** Of the work without copies; in [0, 1). */
  readonly loadRatio: number;
  /** Copies of each request; a whole number >= 1, default 2. */
  readonly copies?: number | undefined;
}

/**
 * Mean time when every request goes to `copies` of `servers` servers at once, the first answer wins and the others stop
 * instantly, with independent copies. Real copies share the request's size: this is the kindest case.
 *
 * Source: Gardner et al., "Redundancy-d: The Power of d Choices for Redundancy", Operations Research 65(4), 2017.
 */
export function redundancyMean(model: Redundancy, servers: number): number {
  const { loadRatio, copies = 2 } = checkRedundancy(model);
  checkOption({ servers }, `a whole number >= ${copies}`, servers >= copies);
  let sum = 0;
  // C(servers - 1, copies - 1) / C(i - 1, copies - 1), from i = servers down.
  let ratio = 1;
  for (let i = servers; i >= copies; i--) {
    sum += 1 / (servers * ratio - servers * loadRatio);
    ratio *= (i - 1) / Math.max(1, i - copies);
  }
  return sum;
}

/** Load below which two copies that are never cancelled lower the mean, with exponential service: 1 / 3. */
export const DUPLICATION_THRESHOLD: number = 1 / 3;

/**
 * Mean time when `copies` are queued and the first to start cancels the others at once, for endlessly many servers: ties.
 *
 * Source: Hellemans & Van Houdt, "On the Power-of-d-choices with Least Loaded Server Selection", 2018.
 */
export function leastWorkMean(model: Redundancy): number {
  const { loadRatio, copies = 2 } = checkRedundancy(model);
  if (loadRatio === 0) return 1;
  if (copies === 1) return 1 / (1 - loadRatio);
  const lead = loadRatio ** (1 - copies) - loadRatio;
  const workAbove = (w: number): number =>
    (loadRatio + lead * Math.exp((copies - 1) * w)) ** (1 / (1 - copies));
  return 1 + integrateSurvival((w) => (w < 0 ? 1 : workAbove(w) ** copies));
}

/** Share of tied requests that both copies start, without stagger or delay: x = (1 - r (1 + x))^2. */
export function tiedDuplicateShare(loadRatio: number): number {
  checkRedundancy({ loadRatio });
  let low = 0;
  let high = 1;
  for (let step = 0; step < 60; step++) {
    const x = (low + high) / 2;
    if (x < Math.max(0, 1 - loadRatio * (1 + x)) ** 2) low = x;
    else high = x;
  }
  return low;
}

function checkRedundancy(model: Redundancy): Redundancy {
  const { loadRatio, copies = 2 } = model;
  checkOption({ loadRatio }, "a ratio in [0, 1)", loadRatio >= 0 && loadRatio < 1);
  checkOption({ copies }, "a whole number >= 1", Number.isInteger(copies) && copies >= 1);
  return model;
}
