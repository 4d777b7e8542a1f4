import type { Endpoint } from "../../policies/endpoint.ts";
import type { Service } from "../../policies/service.ts";
import type { ServiceStats } from "../../policies/stats.ts";

/** One endpoint as its client sees it. Plain numbers since the client was made, except where said. */
export interface EndpointStats {
  readonly name: string;
  readonly weight: number;
  readonly virtual: boolean;
  /** Attempts under way now. */
  readonly outstanding: number;
  readonly attempts: number;
  readonly wins: number;
  readonly failures: number;
  readonly superseded: number;
  /** Milliseconds of attempts whose answer nobody used. */
  readonly wastedMs: number;
  /** The balancer's estimate as it was last updated; `undefined` while unmeasured. */
  readonly latencyMs: number | undefined;
  /** The share of failures as it was last updated; in [0, 1). */
  readonly errorShareRatio: number;
}

/** A snapshot of a client: a plain object, for a page or a log of one's own. */
export interface ClientStats extends Readonly<ServiceStats> {
  readonly name: string;
  /** Extra attempts divided by calls. */
  readonly extraRatio: number;
  /** Extra attempts that the budget would pay for now, and at most. */
  readonly budget: { readonly balanceCount: number; readonly capacityCount: number };
  readonly endpoints: readonly EndpointStats[];
}

export function readStats(name: string, service: Service, nowMs: number): ClientStats {
  const { stats } = service.machine;
  const { budget, balancer } = service;
  return {
    name,
    ...stats,
    skipped: { ...stats.skipped },
    extraRatio: stats.calls === 0 ? 0 : (stats.hedges + stats.retries) / stats.calls,
    budget: { balanceCount: budget.balanceAt(nowMs), capacityCount: budget.capacityCount },
    endpoints: balancer.endpoints.map(readEndpoint),
  };
}

function readEndpoint(e: Endpoint): EndpointStats {
  return {
    name: e.name,
    weight: e.weight,
    virtual: e.virtual,
    outstanding: e.outstanding,
    attempts: e.picks,
    wins: e.wins,
    failures: e.failures,
    superseded: e.superseded,
    wastedMs: e.wastedMs,
    latencyMs: e.latencyMs < 0 ? undefined : e.latencyMs,
    errorShareRatio: e.errorShareRatio,
  };
}
