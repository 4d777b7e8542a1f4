import type { AttemptKind } from "./attempt.ts";

/** What all extra attempts of a service are paid from. */
export interface Budget {
  /** A call succeeded: earn a share of an extra attempt. */
  deposit(nowMs: number): void;
  /** A failure reached an endpoint: the brake stops extra attempts while failures outweigh successes. */
  failure(nowMs: number): void;
  /** Take one extra attempt. Refused: nothing is taken. */
  tryWithdraw(kind: AttemptKind, nowMs: number): boolean;
  /** Give back an extra attempt that could not be placed. */
  refund(): void;
  /** Extra attempts that could be sent now. Reading changes nothing. */
  balanceAt(nowMs: number): number;
  readonly capacityCount: number;
}
