import type { Endpoint } from "./endpoint.ts";
import { fadeRatio } from "./load-fade.ts";

/** Below what a clock can tell; zero would hide how many attempts are outstanding. */
const MIN_LATENCY_MS = 0.001;

/**
 * Peak-sensitive moving average of the time to an answer: it jumps up to a slower sample at once
 * and comes down with the time constant `decayMs`.
 *
 * Reading changes nothing and fades with age, so that an endpoint that was slow is tried again.
 * Source: Finagle's PeakEwma and Linkerd's, whose read is a projection too.
 *
 * @returns ms above 0, or a negative number while nothing has been measured.
 */
export function fadedLatencyMs(e: Endpoint, nowMs: number, fadePerMs: number): number {
  return e.latencyMs * fadeRatio(nowMs - e.latencyAtMs, fadePerMs);
}

/** A whole answer: the only sample that may lower the estimate. */
export function noteLatency(e: Endpoint, sampleMs: number, nowMs: number, fadePerMs: number): void {
  const latencyMs = Math.max(sampleMs, MIN_LATENCY_MS);
  if (latencyMs >= e.latencyMs) e.latencyMs = latencyMs;
  else {
    const kept = fadeRatio(nowMs - e.latencyAtMs, fadePerMs);
    e.latencyMs = e.latencyMs * kept + latencyMs * (1 - kept);
  }
  e.latencyAtMs = nowMs;
}

/**
 * A lower bound: an attempt that was cancelled, timed out or failed took at least this long, and an
 * answer might have taken longer. So it raises the estimate or leaves it alone; otherwise an
 * endpoint that fails in a millisecond would look like the fastest of all.
 *
 * @param currentMs - what the endpoint counts as now.
 */
export function noteLowerBound(
  e: Endpoint,
  boundMs: number,
  currentMs: number,
  nowMs: number,
): void {
  if (e.latencyMs < 0 && !(boundMs > currentMs)) return;
  // News in any case: what is known fades from now on, and no sooner.
  e.latencyMs = Math.max(boundMs, currentMs);
  e.latencyAtMs = nowMs;
}
