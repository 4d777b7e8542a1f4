import type { Scenario } from "bobtail/sim";
import { type TaskResult, workOrderOf } from "./compute-task.ts";
import { runTasksHere } from "./run-tasks.ts";
import { type Shard, tasksOf } from "./shard.ts";
import type { SimJob } from "./sim-job.ts";
import { planJob, type SimPlan } from "./sim-plan.ts";
import { reportOf, type SimReport } from "./sim-report.ts";

export const VERSION = "0.0.0-test";

/** Four servers, one of them slower, two policies. */
export function smallScenario(more: Partial<Scenario> = {}): Scenario {
  return {
    name: "small",
    servers: [
      { count: 3, workers: 2 },
      { workers: 2, slowdown: 4 },
    ],
    size: { kind: "exponential", meanMs: 10 },
    arrivals: { kind: "poisson", load: 0.6 },
    requests: 500,
    policies: {
      "round robin": { balance: { policy: "round-robin" } },
      hedged: { hedge: { afterMs: 30 }, budget: { extraRatio: 0.1 } },
    },
    ...more,
  };
}

export function jobOf(scenario: Scenario | string, more: Partial<SimJob> = {}): SimJob {
  const source: SimJob["source"] =
    typeof scenario === "string"
      ? { kind: "built-in", name: scenario }
      : { kind: "file", scenario };
  return { source, sets: [], sweeps: [], scale: 1, ...more };
}

/** Runs tasks of a plan on this thread. */
export function compute(plan: SimPlan, shard?: Shard): ReadonlyMap<number, TaskResult> {
  const results = new Map<number, TaskResult>();
  runTasksHere({
    order: workOrderOf(plan),
    tasks: tasksOf(plan, shard),
    onResult: (task, result) => results.set(task, result),
  });
  return results;
}

export async function simulate(job: SimJob): Promise<SimReport> {
  const plan = await planJob(job);
  return reportOf(plan, compute(plan), { version: VERSION, sets: job.sets });
}
