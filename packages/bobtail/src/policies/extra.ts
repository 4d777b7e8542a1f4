import type { Attempt } from "./attempt.ts";
import type { Call } from "./call.ts";
import type { CallPolicy } from "./port.ts";
import type { SkipReason } from "./stats.ts";

/** What may follow a failed attempt: an extra copy of that kind, or none and why (`undefined`: none is configured or left). */
export type Extra =
  | { readonly kind: "retry" | "hedge"; readonly skip?: undefined }
  | { readonly kind?: undefined; readonly skip: SkipReason | undefined };

const RETRY: Extra = { kind: "retry" };
const HEDGE: Extra = { kind: "hedge" };
const NONE: Extra = { skip: undefined };

/** When the copy after the one launched now is due; the timer counts from the last launch. Infinity: never. */
export function hedgeDueMs(c: Call, policy: CallPolicy, nowMs: number): number {
  const { hedger } = policy;
  if (c.hedges >= hedger.max || !c.idempotent || !c.replayable || c.upperLevel)
    return Number.POSITIVE_INFINITY;
  return Math.max(nowMs + hedger.delayMs(c.cls, nowMs), c.notBeforeMs);
}

/** A request of which no byte was sent may be repeated whatever it does; others only when they are safe to run twice. */
export function afterFailure(c: Call, a: Attempt, policy: CallPolicy, nowMs: number): Extra {
  const mayRetry = c.retries < policy.maxRetries;
  if (!mayRetry && c.hedges >= policy.hedger.max) return NONE;
  if (!c.replayable) return { skip: "not_replayable" };
  if (nowMs >= c.deadlineMs) return { skip: "deadline" };
  if (a.unsent && mayRetry) return RETRY;
  if (!c.idempotent) return { skip: "not_idempotent" };
  if (c.upperLevel) return { skip: "upper_level" };
  if (c.deadlineMs - nowMs < c.cls.medianMs) return { skip: "deadline" };
  return mayRetry ? RETRY : HEDGE;
}
