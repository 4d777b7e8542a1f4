import type { BalanceOptions, ServiceOptions } from "../../policies/options.ts";

/** Limits that never bind, no retry, no deadline that comes: what a theorem assumes. */
const UNBOUNDED: ServiceOptions = {
  retry: { max: 0 },
  deadlineMs: 1e12,
  limit: { outstanding: 1e9, perEndpoint: 1e9, pending: 0 },
};

/** A balancer as theory has it: it counts requests and nothing else. */
export function plain(balance: BalanceOptions, more: ServiceOptions = {}): ServiceOptions {
  return {
    ...UNBOUNDED,
    balance: { load: "outstanding", errorPenalty: false, ...balance },
    ...more,
  };
}

/** A second copy after that delay, paid by a budget that never runs dry. */
export function unguardedHedge(afterMs: number): ServiceOptions {
  return { hedge: { afterMs }, budget: { extraRatio: 2, burstCount: 10_000 } };
}

export function hedge(afterMs: number, extraRatio: number): ServiceOptions {
  return { hedge: { afterMs }, budget: { extraRatio, burstCount: 10 } };
}
