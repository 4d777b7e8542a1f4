import { channel } from "node:diagnostics_channel";
import type { Attempt, AttemptKind, AttemptOutcome } from "../../policies/attempt.ts";
import type { Call, CallFailure } from "../../policies/call.ts";
import type { CallObserver } from "../../policies/observer.ts";
import type { SkipReason } from "../../policies/stats.ts";

/** Published on `bobtail:call` when a call settles. */
export interface CallMessage {
  readonly service: string;
  readonly outcome: "succeeded" | CallFailure;
  /** From the call to its settle, the body's end included. */
  readonly elapsedMs: number;
  readonly attempts: number;
  readonly hedges: number;
  readonly retries: number;
  /** The endpoint whose answer the caller got. */
  readonly endpoint: string | undefined;
}

/** Published on `bobtail:attempt` when an attempt ends; `bobtail:hedge.won` and `.lost` carry the same. */
export interface AttemptMessage {
  readonly service: string;
  readonly endpoint: string;
  readonly kind: AttemptKind;
  readonly number: number;
  readonly outcome: AttemptOutcome | undefined;
  /** To the answer, else to the end. */
  readonly latencyMs: number;
  readonly cause: unknown;
}

/** Published on `bobtail:hedge.launched` when a hedge is sent. */
export interface HedgeMessage {
  readonly service: string;
  readonly endpoint: string;
  readonly number: number;
  /** How long the call had run by then. */
  readonly afterMs: number;
}

/** Published on `bobtail:hedge.suppressed`, and on `bobtail:budget.denied` where that was the reason. */
export interface SkipMessage {
  readonly service: string;
  readonly reason: SkipReason;
}

const calls = channel("bobtail:call");
const attempts = channel("bobtail:attempt");
const launched = channel("bobtail:hedge.launched");
const suppressed = channel("bobtail:hedge.suppressed");
const won = channel("bobtail:hedge.won");
const lost = channel("bobtail:hedge.lost");
const denied = channel("bobtail:budget.denied");

/** Publishes what a service decides on `node:diagnostics_channel`. Without a subscriber no message is built. */
export function publishDecisions(service: string): CallObserver {
  return {
    launched(a, nowMs) {
      if (a.kind === "hedge" && launched.hasSubscribers)
        launched.publish(hedgeMessage(service, a, nowMs));
    },
    committed(a) {
      if (a.kind === "hedge" && won.hasSubscribers) won.publish(attemptMessage(service, a, "win"));
    },
    ended(a) {
      if (attempts.hasSubscribers) attempts.publish(attemptMessage(service, a, a.outcome));
      if (a.kind === "hedge" && a.outcome === "superseded" && lost.hasSubscribers)
        lost.publish(attemptMessage(service, a, a.outcome));
    },
    skipped(_call, reason) {
      if (suppressed.hasSubscribers) suppressed.publish({ service, reason } satisfies SkipMessage);
      if (reason === "budget" && denied.hasSubscribers)
        denied.publish({ service, reason } satisfies SkipMessage);
    },
    settled(call, nowMs) {
      if (calls.hasSubscribers) calls.publish(callMessage(service, call, nowMs));
    },
  };
}

function hedgeMessage(service: string, a: Attempt, nowMs: number): HedgeMessage {
  const afterMs = nowMs - a.call.startMs;
  return { service, endpoint: a.endpoint.name, number: a.number, afterMs };
}

function attemptMessage(
  service: string,
  a: Attempt,
  outcome: AttemptOutcome | undefined,
): AttemptMessage {
  const { kind, number, latencyMs, cause } = a;
  return { service, endpoint: a.endpoint.name, kind, number, outcome, latencyMs, cause };
}

function callMessage(service: string, call: Call, nowMs: number): CallMessage {
  return {
    service,
    outcome: call.failure ?? "succeeded",
    elapsedMs: nowMs - call.startMs,
    attempts: call.launched,
    hedges: call.hedges,
    retries: call.retries,
    endpoint: call.winner?.endpoint.name,
  };
}
