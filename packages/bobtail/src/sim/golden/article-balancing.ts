import { Mt19937 } from "../../core/mt19937.ts";
import { Call } from "../../policies/call.ts";
import { CallMachine } from "../../policies/call-machine.ts";
import type { BalanceOptions } from "../../policies/options.ts";
import { createService } from "../../policies/service.ts";
import { ReportedBalancer } from "../load-reports.ts";
import { ArticleChance } from "./article-chance.ts";
import {
  type ArticleBackend,
  ArticleFleet,
  articleBackends,
  articleCapacity,
  atIndex,
} from "./article-fleet.ts";

export interface ArticlePolicy {
  readonly name: string;
  readonly balance: BalanceOptions;
  readonly stale: boolean;
}

const COUNTED = { load: "outstanding", errorPenalty: false } as const;

/** The six policies, in the article's order. */
export const articlePolicies: readonly ArticlePolicy[] = [
  { name: "round robin", balance: { ...COUNTED, policy: "round-robin" }, stale: false },
  { name: "random", balance: { ...COUNTED, policy: "random" }, stale: false },
  { name: "least outstanding", balance: { ...COUNTED, policy: "least" }, stale: false },
  { name: "least outstanding, stale", balance: { ...COUNTED, policy: "least" }, stale: true },
  { name: "two choices", balance: { ...COUNTED, policy: "two-choices" }, stale: false },
  { name: "two choices, stale", balance: { ...COUNTED, policy: "two-choices" }, stale: true },
];

export interface ArticleRow {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly timedOutRatio: number;
  readonly toSlowRatio: number;
}

const STALE_S = 0.02;

/**
 * Part 1 of the balancing article, draw for draw: ten backends, one five times slower, 70 % of capacity.
 *
 * The picks are our balancers', through the call machine, on the article's chance. Re-expressed from the article are the
 * order of draws, the backend (a service time drawn on arrival, a request refused that would wait for over a second), the moment at
 * which counts are refreshed, and the index that stands for a quantile. Percentiles are of completed requests.
 */
export function articleBalancing(
  policy: ArticlePolicy,
  options: { seed?: number; requests?: number } = {},
): ArticleRow {
  const { seed = 3, requests = 300_000 } = options;
  const rng = new Mt19937(seed);
  const fleet = new ArticleFleet(articleBackends([0]), 1, rng);
  const { balance, stale } = policy;
  const chance = new ArticleChance(rng, fleet.backends.length, balance.policy === "random");
  const service = createService({
    options: {
      balance,
      retry: { max: 0 },
      limit: { outstanding: 1_000_000, perEndpoint: 1_000_000 },
    },
    endpoints: fleet.backends.map((backend) => ({ name: String(backend.index) })),
    port: fleet,
    rng: chance,
    nowMs: 0,
  });
  for (const [i, e] of service.balancer.endpoints.entries()) {
    e.host = fleet.backends[i];
    // Round robin starts anywhere; the article's at the first.
    e.turn = -i / fleet.backends.length;
  }
  chance.begin();
  let snapshot = fleet.counts();
  const view = {
    countOf: (backend: unknown) => snapshot[(backend as ArticleBackend).index] as number,
  };
  const balancer = stale ? new ReportedBalancer(service.balancer, view) : service.balancer;
  const machine = new CallMachine({ ...service.machine.policy, balancer }, fleet);
  fleet.attach(machine);
  const cls = service.hedger.classOf("request");
  const ratePerSecond = 0.7 * articleCapacity(fleet.backends);

  let nowS = 0;
  let refreshS = 0;
  for (let i = 0; i < requests; i++) {
    nowS += rng.exponential(ratePerSecond);
    fleet.advance(nowS);
    if (nowS >= refreshS) {
      snapshot = fleet.counts();
      refreshS = nowS + STALE_S;
    }
    if (balance.policy === "least") chance.drawTies(stale ? snapshot : fleet.counts());
    machine.start(new Call(cls, undefined), nowS * 1000);
  }
  const sorted = Float64Array.from(fleet.latenciesS).sort();
  return {
    p50Ms: atIndex(sorted, 0.5) * 1000,
    p99Ms: atIndex(sorted, 0.99) * 1000,
    p999Ms: atIndex(sorted, 0.999) * 1000,
    timedOutRatio: fleet.refused / requests,
    toSlowRatio: fleet.toFirst / requests,
  };
}
