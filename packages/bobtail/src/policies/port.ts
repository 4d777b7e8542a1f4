import type { Attempt } from "./attempt.ts";
import type { Balancer } from "./balancer.ts";
import type { Budget } from "./budget.ts";
import type { Call } from "./call.ts";
import type { Hedger } from "./hedger.ts";

/** What a driver does for the machine: the simulator's world, or real sockets. */
export interface Port {
  /** Send this copy. May report its end before it returns. Must not throw. */
  send(attempt: Attempt, nowMs: number): void;
  /** Drop this copy and whatever it holds; it may come before `send` has returned. What the copy still reports is ignored. */
  cancel(attempt: Attempt, nowMs: number): void;
  /** Replace the call's pending wake; Infinity: none. Never early, and never before this returns. */
  wakeAt(call: Call, atMs: number): void;
  /** The call is over: exactly once, and last. Implies that the wake is removed. */
  settle(call: Call, nowMs: number): void;
}

/** The decisions that one service is made of. */
export interface CallPolicy {
  readonly balancer: Balancer;
  readonly budget: Budget;
  readonly hedger: Hedger;
  /** Copies sent because one failed; a whole number in [0, 8]. */
  readonly maxRetries: number;
  /** One copy may wait this long for its answer; Infinity: until the deadline. */
  readonly attemptTimeoutMs: number;
  /** Most attempts at one time. */
  readonly maxOutstanding: number;
  /** Most calls that wait for a free endpoint. */
  readonly maxPending: number;
}
