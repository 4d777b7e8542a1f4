import { seededRng } from "bobtail/engine";
import { empirical, planHedge } from "bobtail/plan";
import { describe, expect, test } from "vitest";
import { simulatePlan } from "./simulate-plan.ts";

const rng = seededRng(1);
const latency = empirical(
  Array.from(
    { length: 100_000 },
    () => 3 + 5 * rng.next() + (rng.next() < 0.02 ? 60 + 60 * rng.next() : 0),
  ),
);

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

  test("is not run where copies depend on each other, since the simulator's do not", () => {
    const shared = planHedge({ latency, replicaCorrelation: 0.2 });
    expect(simulatePlan(shared, latency, 0)).toBeUndefined();
    expect(simulatePlan(planHedge({ latency }), latency, 0.1)).toBeUndefined();
  });
});
