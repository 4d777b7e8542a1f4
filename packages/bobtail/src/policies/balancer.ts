import type { AttemptKind, AttemptOutcome } from "./attempt.ts";
import type { Call } from "./call.ts";
import type { Endpoint } from "./endpoint.ts";

/** Chooses the endpoint of each attempt, and learns from how attempts end. */
export interface Balancer {
  readonly endpoints: readonly Endpoint[];
  /**
   * The endpoint for the next attempt of this call, or `undefined` when there is none it may use.
   *
   * Never one that is full. Never one that the call has tried, unless it is virtual or the kind is
   * `retry` and no untried one is left.
   */
  pick(call: Call, kind: AttemptKind, nowMs: number): Endpoint | undefined;
  /**
   * Once an attempt: at its answer, or at its end if it never answered; once more, as `failed`, when the
   * body of a winner broke. `latencyMs` is a lower bound unless it won.
   */
  observe(endpoint: Endpoint, latencyMs: number, outcome: AttemptOutcome, nowMs: number): void;
  /** Replace the set; endpoints that stay are the same objects and keep their state. */
  update(endpoints: readonly Endpoint[], nowMs: number): void;
}
