import type { Endpoint } from "./endpoint.ts";

/** Weight of one race in the share. */
const RACE_RATIO = 0.02;
/** So that an endpoint which lost every race is tried again within a few time constants. */
const MAX_SHARE_RATIO = 0.75;
/** Less is none: it changes no choice, and products would end among the denormal numbers, where each costs fifty. */
const LEAST_SHARE_RATIO = 1e-9;

/**
 * How many times the measured latency an endpoint is worth, for the races it loses: (1 - lost share)^-4.
 *
 * A hedge cuts off the long latencies of a slow endpoint and leaves it the short ones, so that it would be judged
 * by its lucky answers; what tells it from the others is how often it is beaten. The races that every endpoint
 * loses now and then change nothing, since only ratios matter. The power is the error penalty's; weaker ones
 * left the slow endpoint more calls and a longer tail in simulation (`sim/hedged-balance.test.ts` bounds both).
 *
 * @param kept - what is left of the estimate after a time without news, in (0, 1]; the share fades with it.
 */
export function lostRacesFactor(e: Endpoint, kept: number): number {
  if (e.lostShareRatio === 0) return 1;
  const won = 1 - e.lostShareRatio * kept;
  const square = won * won;
  return 1 / (square * square);
}

export function noteRaceWon(e: Endpoint): void {
  const share = e.lostShareRatio * (1 - RACE_RATIO);
  e.lostShareRatio = share < LEAST_SHARE_RATIO ? 0 : share;
}

export function noteRaceLost(e: Endpoint): void {
  const share = e.lostShareRatio + RACE_RATIO * (1 - e.lostShareRatio);
  e.lostShareRatio = Math.min(share, MAX_SHARE_RATIO);
}
