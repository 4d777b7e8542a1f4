import { type Attempt, isTried } from "./attempt.ts";
import type { Endpoint } from "./endpoint.ts";

/** One balancing policy: which of the endpoints, given that some may not be used. */
export interface Chooser {
  /**
   * One that is not full, and that the call has not tried unless it is virtual.
   *
   * @param last - the call's last attempt; `undefined` allows the tried ones as well.
   * @returns `undefined` if and only if there is none.
   */
  choose(last: Attempt | undefined, cost: number, nowMs: number): Endpoint | undefined;
  update(endpoints: readonly Endpoint[]): void;
}

export function mayUse(e: Endpoint, last: Attempt | undefined, perEndpoint: number): boolean {
  return e.outstanding < perEndpoint && (last === undefined || e.virtual || !isTried(last, e));
}
