import type { Empirical, HedgePlan } from "bobtail/plan";
import { type Interval, intervalOf, quantileMs, type ServiceOptions, World } from "bobtail/sim";
import { parsePolicy } from "../policy-file/load-policy.ts";
import { runCorrelated } from "./correlated-run.ts";
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
  /** What it was run with, both in [0, 1]. */
  readonly replicaCorrelation: number;
  readonly leafCorrelation: number;
}

const RUNS = 8;
const LEAF_CALLS = 1_600_000;
const DRAWS = 200_000;
const FLEET = 20;

/** What one run of the policy showed. */
interface PlanRun {
  quantileMs(quantile: number): number;
  readonly calls: number;
  readonly hedges: number;
  readonly refused: number;
}

interface RunSetup {
  readonly plan: HedgePlan;
  readonly policy: ServiceOptions;
  readonly valuesMs: readonly number[];
  readonly requests: number;
  readonly ratePerSecond: number;
  readonly leafCorrelation: number;
  readonly seed: number;
}

/**
 * Runs the policy as it is printed: the call machine, the budget's bucket and the balancer of production, before servers
 * without a queue, since the log's latencies hold their queue already. Copies, and the leaves of a request, depend on
 * each other as the plan says.
 *
 * `undefined` where the slowest latencies are not known.
 */
export function simulatePlan(
  plan: HedgePlan,
  latency: Empirical,
  leafCorrelation: number,
): SimulatedPlan | undefined {
  if (latency.beyondRatio > 0) return undefined;
  const reading = parsePolicy(policySnippet(plan));
  const service = reading.ok ? reading.config.services.leaf : undefined;
  if (service === undefined) throw new Error("the proposed policy is not valid");
  const requests = Math.max(500, Math.min(50_000, Math.round(LEAF_CALLS / RUNS / plan.fanOut)));
  const setup = {
    plan,
    // Limits are for overload, which is not what is asked here.
    policy: { ...service.options, limit: { outstanding: 1_000_000, perEndpoint: 1_000_000 } },
    valuesMs: drawsOf(latency),
    requests,
    ratePerSecond: 200 / latency.meanMs,
    leafCorrelation,
  };
  const run = plan.replicaCorrelation > 0 || leafCorrelation > 0 ? correlated : independent;
  const runs = Array.from({ length: RUNS }, (_, i) => run({ ...setup, seed: i + 1 }));
  const refused = runs.reduce((sum, one) => sum + one.refused, 0);
  const sent = runs.reduce((sum, one) => sum + one.hedges, 0);
  return {
    requests: requests * RUNS,
    p50Ms: intervalOf(runs.map((one) => one.quantileMs(0.5))),
    askedMs: intervalOf(runs.map((one) => one.quantileMs(plan.quantile))),
    extraRatio: intervalOf(runs.map(({ hedges, calls }) => hedges / calls)),
    refusedRatio: refused + sent === 0 ? 0 : refused / (refused + sent),
    replicaCorrelation: plan.replicaCorrelation,
    leafCorrelation,
  };
}

function independent(setup: RunSetup): PlanRun {
  const { plan, policy, valuesMs, requests, ratePerSecond, seed } = setup;
  const result = new World({
    servers: [{ count: FLEET, workers: "unlimited" }],
    size: { kind: "empirical", valuesMs },
    copies: "independent",
    leaves: plan.fanOut,
    arrivals: { kind: "poisson", ratePerSecond },
    requests,
    warmUpRatio: 0,
    policy,
    seed,
  }).run();
  return {
    quantileMs: (quantile) => quantileMs(result, quantile),
    calls: result.callCount,
    hedges: result.hedgeCount,
    refused: result.skipped.budget ?? 0,
  };
}

function correlated({ plan, leafCorrelation, ...setup }: RunSetup): PlanRun {
  const { replicaCorrelation, fanOut: leaves } = plan;
  const result = runCorrelated({
    ...setup,
    servers: FLEET,
    leaves,
    replicaCorrelation,
    leafCorrelation,
  });
  const { latenciesMs } = result;
  return {
    ...result,
    quantileMs: (quantile) =>
      latenciesMs[Math.ceil(Number((quantile * latenciesMs.length).toPrecision(12))) - 1] as number,
  };
}

/** The log as values of equal chance, rising; of a long log, at evenly spread ranks. */
function drawsOf(latency: Empirical): number[] {
  return Array.from({ length: DRAWS }, (_, i) => latency.quantile((i + 0.5) / DRAWS));
}
