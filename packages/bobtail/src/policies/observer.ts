import type { Attempt } from "./attempt.ts";
import type { Call } from "./call.ts";
import type { SkipReason } from "./stats.ts";

/** Watches the decisions of a call machine: metrics, traces, logs. Called synchronously; must not throw or call back. */
export interface CallObserver {
  launched?(attempt: Attempt, nowMs: number): void;
  /** An attempt's answer is the user's; its body may still be on the way. */
  committed?(attempt: Attempt, nowMs: number): void;
  ended?(attempt: Attempt, nowMs: number): void;
  /** An extra copy was wanted and not sent. */
  skipped?(call: Call, reason: SkipReason, nowMs: number): void;
  settled?(call: Call, nowMs: number): void;
}
