import { type SimPlan, taskCount } from "./sim-plan.ts";

/** One of several parts of a plan, computed anywhere and merged later. */
export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

/** Every n-th task: each shard gets a bit of every row. */
export function tasksOf(plan: SimPlan, shard: Shard = { index: 1, count: 1 }): number[] {
  const tasks: number[] = [];
  for (let task = shard.index - 1; task < taskCount(plan); task += shard.count) tasks.push(task);
  return tasks;
}
