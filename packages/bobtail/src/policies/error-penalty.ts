import type { Endpoint } from "./endpoint.ts";
import { fadeRatio } from "./load-fade.ts";

/** Weight of one outcome in the error share. */
const OUTCOME_RATIO = 0.02;
/** The share stays below one, so that a fleet in which everything fails can still be compared. */
const MAX_SHARE_RATIO = 0.95;
/** Less is none: it changes no choice, and an endpoint without errors is compared at half the cost. */
const LEAST_SHARE_RATIO = 1e-9;

/**
 * How much of an endpoint's worth its errors leave: (1 - error share)^4, in (0, 1].
 *
 * Loads are divided by it and weights multiplied with it. The share fades while nothing new is
 * heard, so that a shunned endpoint is tried again. The power is a measured compromise: one is too
 * weak against an endpoint that fails half its requests at once, sixteen turns the noise of
 * uniform errors into unevenness.
 */
export function worthRatio(e: Endpoint, nowMs: number, fadePerMs: number): number {
  if (e.errorShareRatio === 0) return 1;
  const kept = 1 - e.errorShareRatio * fadeRatio(nowMs - e.errorAtMs, fadePerMs);
  const square = kept * kept;
  return square * square;
}

/** An answer lowers the share, and does not stop its fading: an endpoint that is well again is soon believed. */
export function noteSuccess(e: Endpoint): void {
  const share = e.errorShareRatio * (1 - OUTCOME_RATIO);
  e.errorShareRatio = share < LEAST_SHARE_RATIO ? 0 : share;
}

/** A failure restores the share as it was before it faded: a probe that fails costs one request, not a new trial. */
export function noteFailure(e: Endpoint, nowMs: number): void {
  const share = e.errorShareRatio + OUTCOME_RATIO * (1 - e.errorShareRatio);
  e.errorShareRatio = Math.min(share, MAX_SHARE_RATIO);
  e.errorAtMs = nowMs;
}
