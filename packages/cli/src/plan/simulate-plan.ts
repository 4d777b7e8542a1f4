import type { Empirical, HedgePlan } from "bobtail/plan";
import {
  extraRatio,
  type Interval,
  intervalOf,
  quantileMs,
  type ServiceOptions,
  World,
} from "bobtail/sim";
import { parsePolicy } from "../policy-file/load-policy.ts";
import { policySnippet } from "./policy-snippet.ts";

/** The proposed policy, run by the simulator on latencies drawn from the log. */
export interface SimulatedPlan {
  readonly requests: number;
  readonly p50Ms: Interval;
  /** The percentile that was asked for. */
  readonly askedMs: Interval;
  readonly extraRatio: Interval;
  /** Hedges that were due and that the budget refused, per hedge that was due. */
  readonly refusedRatio: number;
}

const RUNS = 8;
const LEAF_CALLS = 1_600_000;
const DRAWS = 200_000;
const FLEET = 20;

/**
 * Runs the policy as it is printed: the call machine, the budget's bucket and the balancer of production, before servers
 * without a queue, since the log's latencies hold their queue already. Copies draw independently.
 *
 * `undefined` where the plan says that they are not independent: the simulator's copies would be.
 */
export function simulatePlan(
  plan: HedgePlan,
  latency: Empirical,
  leafCorrelation: number,
): SimulatedPlan | undefined {
  if (plan.replicaCorrelation > 0 || leafCorrelation > 0 || latency.beyondRatio > 0)
    return undefined;
  const reading = parsePolicy(policySnippet(plan));
  const service = reading.ok ? reading.config.services.leaf : undefined;
  if (service === undefined) throw new Error("the proposed policy is not valid");
  // Limits are for overload, which is not what is asked here.
  const policy: ServiceOptions = {
    ...service.options,
    limit: { outstanding: 1_000_000, perEndpoint: 1_000_000 },
  };
  const requests = Math.max(500, Math.min(50_000, Math.round(LEAF_CALLS / RUNS / plan.fanOut)));
  const valuesMs = drawsOf(latency);
  const results = Array.from({ length: RUNS }, (_, run) =>
    new World({
      servers: [{ count: FLEET, workers: "unlimited" }],
      size: { kind: "empirical", valuesMs },
      copies: "independent",
      leaves: plan.fanOut,
      arrivals: { kind: "poisson", ratePerSecond: 200 / latency.meanMs },
      requests,
      warmUpRatio: 0,
      policy,
      seed: run + 1,
    }).run(),
  );
  const refused = results.reduce((sum, result) => sum + (result.skipped.budget ?? 0), 0);
  const sent = results.reduce((sum, result) => sum + result.hedgeCount, 0);
  return {
    requests: requests * RUNS,
    p50Ms: intervalOf(results.map((result) => quantileMs(result, 0.5))),
    askedMs: intervalOf(results.map((result) => quantileMs(result, plan.quantile))),
    extraRatio: intervalOf(results.map((result) => extraRatio(result))),
    refusedRatio: refused + sent === 0 ? 0 : refused / (refused + sent),
  };
}

/** The log as values of equal chance; of a long log, at evenly spread ranks. */
function drawsOf(latency: Empirical): number[] {
  return Array.from({ length: DRAWS }, (_, i) => latency.quantile((i + 0.5) / DRAWS));
}
