import type { HedgePlan, PlanRow } from "bobtail/plan";
import type { LatencyLog } from "./latency-log.ts";
import { planWarnings } from "./plan-warnings.ts";
import { isHedged, policySnippet } from "./policy-snippet.ts";
import type { SimulatedPlan } from "./simulate-plan.ts";

/** The plan as one object; units are in the names, null is "not known" or "not asked". */
export function planJson(
  plan: HedgePlan,
  log: LatencyLog,
  simulated?: SimulatedPlan,
): Record<string, unknown> {
  const { load, advice, correlation } = plan;
  return {
    schema: "bobtail.plan/1",
    latencies: log.count,
    censored: log.censoredCount,
    pairs: log.pairCount,
    skipped: log.skips.map(({ reason, count, firstPlace }) => ({
      reason,
      count,
      first_place: firstPlace,
    })),
    fan_out: plan.fanOut,
    quantile: plan.quantile,
    within_ms: plan.withinMs ?? null,
    budget_ratio: plan.budgetRatio,
    leaf: Object.fromEntries(
      [0.5, 0.95, 0.99, 0.999].map((q) => [
        `p${Number((q * 100).toPrecision(10))}_ms`,
        finite(log.latency.quantile(q)),
      ]),
    ),
    leaf_targets: plan.leafTargets.map((target) => ({
      quantile: target.quantile,
      leaf_quantile: target.leafQuantile,
      one_slow_call_in: finite(target.oneSlowCallIn),
    })),
    rows: plan.rows.map((row) => rowJson(row, plan)),
    proposed: plan.proposed.kind,
    hedge: isHedged(plan),
    meets: plan.withinMs === undefined ? null : advice === undefined,
    advice:
      advice === undefined
        ? null
        : {
            max_fan_out: finite(advice.maxFanOut),
            partition_factor: finite(advice.partitionFactor),
            enough: advice.enough ?? null,
            cached_ratio: advice.cachedRatio,
            slow_ratio: advice.slowRatio,
            allowed_slow_ratio: advice.allowedSlowRatio,
          },
    load:
      load === undefined
        ? null
        : {
            load_ratio: load.loadRatio,
            resulting_ratio: load.resultingRatio,
            max_load_ratio: load.maxLoadRatio,
            budget_critical_ratio: load.budgetCriticalRatio,
            unguarded_critical_ratio: load.unguardedCriticalRatio ?? null,
            safe: load.isSafe,
            reasons: load.reasons,
          },
    replica_correlation: plan.replicaCorrelation,
    replica_correlation_interval:
      correlation === undefined ? null : [correlation.low, correlation.high],
    simulated: simulated === undefined ? null : simulatedJson(simulated),
    warnings: planWarnings(plan, log),
    policy: policySnippet(plan),
  };
}

function simulatedJson(simulated: SimulatedPlan): Record<string, unknown> {
  const { p50Ms, askedMs, extraRatio } = simulated;
  return {
    requests: simulated.requests,
    p50_ms: p50Ms.mean,
    p50_interval_ms: [p50Ms.low, p50Ms.high],
    asked_ms: askedMs.mean,
    asked_interval_ms: [askedMs.low, askedMs.high],
    extra_ratio: extraRatio.mean,
    refused_ratio: simulated.refusedRatio,
    replica_correlation: simulated.replicaCorrelation,
    leaf_correlation: simulated.leafCorrelation,
  };
}

function rowJson(row: PlanRow, plan: HedgePlan): Record<string, unknown> {
  return {
    kind: row.kind,
    delay_ms: finite(row.delayMs),
    probability: row.probability,
    extra_ratio: row.extraRatio,
    request: row.predictions.map((p) => ({
      quantile: p.quantile,
      latency_ms: p.isSupported ? finite(p.latencyMs) : null,
      low_ms: p.isSupported ? p.low : null,
      high_ms: p.isSupported && p.high !== undefined ? finite(p.high) : null,
    })),
    late_ratio: row.lateRatio ?? null,
    max_fan_out: plan.withinMs === undefined ? null : finite(row.maxFanOut ?? 0),
  };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
