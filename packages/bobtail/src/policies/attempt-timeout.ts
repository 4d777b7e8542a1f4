import { BobtailError } from "../core/errors.ts";
import type { Attempt } from "./attempt.ts";
import type { Call } from "./call.ts";

/** When the first of the running attempts will have waited for that long; Infinity: none runs, or one has been answered. */
export function soonestTimeoutMs(call: Call, timeoutMs: number): number {
  let atMs = Number.POSITIVE_INFINITY;
  if (call.state !== "running") return atMs;
  for (let a = call.last; a !== undefined; a = a.previous) {
    if (a.running && a.startMs + timeoutMs < atMs) atMs = a.startMs + timeoutMs;
  }
  return atMs;
}

/** The cause of an attempt that outlived `timeout.attemptMs`. */
export function attemptTimeoutError(a: Attempt, timeoutMs: number): BobtailError {
  const endpoint = a.endpoint.name;
  return new BobtailError(
    "ERR_BOBTAIL_ATTEMPT_TIMEOUT",
    `${endpoint}: no answer within ${timeoutMs} ms`,
    { endpoint, timeoutMs },
  );
}
