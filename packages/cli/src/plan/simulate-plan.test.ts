import { seededRng } from "bobtail/engine";
import { empirical, empiricalFromCensored, type HedgePlan, planHedge } from "bobtail/plan";
import { describe, expect, test } from "vitest";
import { simulatePlan } from "./simulate-plan.ts";

const rng = seededRng(1);
const latency = empirical(
  Array.from(
    { length: 100_000 },
    () => 3 + 5 * rng.next() + (rng.next() < 0.02 ? 60 + 60 * rng.next() : 0),
  ),
);

function simulatedMs(plan: HedgePlan): number | undefined {
  return simulatePlan(plan, latency, 0)?.askedMs.mean;
}

describe("the proposed policy in the simulator", () => {
  test("has the latencies and the cost that the plan predicts", () => {
    for (const [fanOut, quantile] of [
      [1, 0.99],
      [20, 0.95],
    ] as const) {
      const plan = planHedge({ latency, fanOut, quantile });
      const simulated = simulatePlan(plan, latency, 0);
      const predicted = plan.proposed.predictions.find((p) => p.quantile === quantile);
      if (simulated === undefined || predicted === undefined) throw new Error("nothing to compare");
      expect(Math.abs(simulated.askedMs.mean / predicted.latencyMs - 1)).toBeLessThan(0.05);
      const extra = simulated.extraRatio.mean;
      expect(extra).toBeLessThanOrEqual(0.05);
      expect(Math.abs(extra / plan.proposed.extraRatio - 1)).toBeLessThan(0.05);
    }
  });

  test("gives the same figures again: its seeds are fixed", () => {
    const plan = planHedge({ latency, fanOut: 20 });
    expect(simulatePlan(plan, latency, 0)).toEqual(simulatePlan(plan, latency, 0));
  });

  test("agrees with the plan within 5 % where copies and leaves are slow together, and not without that", () => {
    for (const [replicaCorrelation, leafCorrelation, fanOut, quantile] of [
      [0.3, 0, 20, 0.95],
      [0, 0.2, 1, 0.99],
      [0.2, 0.2, 20, 0.95],
    ] as const) {
      const plan = planHedge({ latency, fanOut, quantile, replicaCorrelation, leafCorrelation });
      const simulated = simulatePlan(plan, latency, leafCorrelation);
      const predicted = plan.proposed.predictions.find((p) => p.quantile === quantile);
      if (simulated === undefined || predicted === undefined) throw new Error("nothing to compare");
      expect(Math.abs(simulated.askedMs.mean / predicted.latencyMs - 1)).toBeLessThan(0.05);
      const extra = simulated.extraRatio.mean;
      expect(extra).toBeLessThanOrEqual(0.05);
      expect(Math.abs(extra / plan.proposed.extraRatio - 1)).toBeLessThan(0.05);
      expect(simulated).toMatchObject({ replicaCorrelation, leafCorrelation });
    }
    const shared = planHedge({ latency, fanOut: 20, quantile: 0.95, replicaCorrelation: 0.3 });
    const ignored = simulatePlan({ ...shared, replicaCorrelation: 0 }, latency, 0);
    expect(ignored?.askedMs.high).toBeLessThan(0.5 * (simulatedMs(shared) ?? 0));
  });

  test("is not run where the slowest latencies are not known", () => {
    const cut = empiricalFromCensored([
      { latencyMs: 5, ended: true },
      { latencyMs: 9, ended: false },
    ]);
    expect(simulatePlan(planHedge({ latency: cut }), cut, 0)).toBeUndefined();
  });
});
