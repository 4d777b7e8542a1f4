import type { Attempt, AttemptKind } from "./attempt.ts";
import type { Call } from "./call.ts";
import type { Hedger } from "./hedger.ts";
import type { CallPolicy } from "./port.ts";
import type { SkipReason } from "./stats.ts";

/** What may follow a failed attempt: an extra copy of that kind, or none and why (`undefined`: none is configured or left). */
export type Extra =
  | { readonly kind: AttemptKind; readonly skip?: undefined }
  | { readonly kind?: undefined; readonly skip: SkipReason | undefined };

/** Copies of one call that may be replaced because no byte of them reached a server. */
const MAX_REPLACED = 3;

const PRIMARY: Extra = { kind: "primary" };
const RETRY: Extra = { kind: "retry" };
const HEDGE: Extra = { kind: "hedge" };
const NONE: Extra = { skip: undefined };

/** When the copy after the one launched now is due; the timer counts from the last launch. Infinity: never. */
export function hedgeDueMs(c: Call, policy: CallPolicy, nowMs: number): number {
  return c.hedges < policy.hedger.max
    ? nextDueMs(c, policy.hedger, nowMs)
    : Number.POSITIVE_INFINITY;
}

function nextDueMs(c: Call, hedger: Hedger, nowMs: number): number {
  if (!c.idempotent || !c.replayable || c.upperLevel) return Number.POSITIVE_INFINITY;
  return Math.max(nowMs + hedger.delayMs(c.cls, nowMs), c.notBeforeMs);
}

/**
 * A request of which no byte was sent may be repeated whatever it does; others only when they are safe to run twice.
 *
 * While an untried endpoint is left, a copy that reached no server is replaced by one of its own kind, at no cost to
 * the budget, since it was no load. Source: gRFC A6, "gRPC Retry Design", 2017 (transparent retries).
 */
export function afterFailure(c: Call, a: Attempt, policy: CallPolicy, nowMs: number): Extra {
  const mayRetry = c.retries < policy.maxRetries;
  // With every endpoint tried it is a retry like any other, which may repeat one.
  const untried = c.launched < policy.balancer.endpoints.length;
  if (a.unsent && unsentCount(c) > (untried ? MAX_REPLACED : policy.maxRetries)) return NONE;
  if (!mayRetry && c.hedges >= policy.hedger.max) return NONE;
  if (!c.replayable) return { skip: "not_replayable" };
  if (nowMs >= c.deadlineMs) return { skip: "deadline" };
  if (a.unsent && mayRetry) return untried ? sameKind(a) : RETRY;
  if (!c.idempotent) return { skip: "not_idempotent" };
  if (c.upperLevel) return { skip: "upper_level" };
  if (c.deadlineMs - nowMs < c.cls.medianMs) return { skip: "deadline" };
  return mayRetry ? RETRY : HEDGE;
}

function unsentCount(c: Call): number {
  let count = 0;
  for (let a = c.last; a !== undefined; a = a.previous) if (a.unsent) count++;
  return count;
}

function sameKind(a: Attempt): Extra {
  if (a.kind === "primary") return PRIMARY;
  return a.kind === "hedge" ? HEDGE : RETRY;
}
