import { type TaskResult, workOrderOf } from "./compute-task.ts";
import type { SimProgress } from "./progress-line.ts";
import { runTasks } from "./run-tasks.ts";
import type { SimPlan } from "./sim-plan.ts";
import { taskAt } from "./sim-plan.ts";

export interface PlanRun {
  readonly tasks: readonly number[];
  /** Threads; a whole number >= 1. */
  readonly workers: number;
  /** Ends it; what is done by then is the result. */
  readonly signal: AbortSignal;
  onProgress(progress: SimProgress): void;
}

const PROGRESS_EVERY_MS = 200;

/** Computes tasks of a plan, and tells how far it is. */
export async function runPlan(
  plan: SimPlan,
  { tasks, workers, signal, onProgress }: PlanRun,
): Promise<ReadonlyMap<number, TaskResult>> {
  const results = new Map<number, TaskResult>();
  const weights = plan.cells.map(({ world }) => (world?.requests ?? 1) * (world?.leaves ?? 1));
  const weightOf = (task: number): number => weights[taskAt(plan.cells.length, task).cell] ?? 1;
  const total = tasks.reduce((sum, task) => sum + weightOf(task), 0);
  let done = 0;
  const tell = (): void =>
    onProgress({ doneRuns: results.size, totalRuns: tasks.length, doneRatio: done / total });
  const timer = setInterval(tell, PROGRESS_EVERY_MS);
  try {
    await runTasks({
      order: workOrderOf(plan),
      tasks,
      workers,
      signal,
      onResult(task, result) {
        results.set(task, result);
        done += weightOf(task);
      },
    });
  } finally {
    clearInterval(timer);
  }
  return results;
}
