import { Worker } from "node:worker_threads";
import { CommandFailure } from "../terminal/failure.ts";
import { type TaskResult, taskComputer, type WorkOrder } from "./compute-task.ts";

export interface TaskRun {
  readonly order: WorkOrder;
  readonly tasks: readonly number[];
  /** Threads; a whole number >= 1. */
  readonly workers: number;
  /** Ends it: tasks under way are lost. */
  readonly signal: AbortSignal;
  onResult(task: number, result: TaskResult): void;
}

/** Computes tasks on threads, so that this one can show progress and hear a signal. Resolves when all are done, or ended. */
export async function runTasks(run: TaskRun): Promise<void> {
  const queue = [...run.tasks].reverse();
  const count = Math.min(run.workers, run.tasks.length);
  const threads = Array.from({ length: count }, () => startThread(run, queue));
  try {
    await Promise.all(threads.map((thread) => thread.done));
  } finally {
    await Promise.all(threads.map((thread) => thread.worker.terminate()));
  }
}

/** The same on this thread. */
export function runTasksHere({
  order,
  tasks,
  onResult,
}: Omit<TaskRun, "workers" | "signal">): void {
  const compute = taskComputer(order);
  for (const task of tasks) onResult(task, compute(task));
}

function startThread(
  { order, signal, onResult }: TaskRun,
  queue: number[],
): { readonly worker: Worker; readonly done: Promise<void> } {
  const worker = new Worker(new URL("./sim-worker.js", import.meta.url), { workerData: order });
  const done = new Promise<void>((resolve, reject) => {
    const next = (): void => {
      const task = signal.aborted ? undefined : queue.pop();
      if (task === undefined) resolve();
      else worker.postMessage(task);
    };
    signal.addEventListener("abort", () => resolve(), { once: true });
    worker.on("message", ({ task, result }: { task: number; result: TaskResult }) => {
      if (!signal.aborted) onResult(task, result);
      next();
    });
    worker.on("error", (error) => reject(explain(error)));
    worker.on("exit", (code) => {
      if (code !== 0) reject(new Error(`a simulator thread ended with code ${code}`));
    });
    next();
  });
  // A thread that fails while another's failure is being reported has been heard already.
  done.catch(() => {});
  return { worker, done };
}

function explain(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ERR_WORKER_OUT_OF_MEMORY")
    return new CommandFailure(
      "a run does not fit into memory",
      "Give fewer servers or clients, a deadline, or a queue limit (maxQueued), or take fewer --workers.",
    );
  if (code === "ERR_BOBTAIL_OPTION" && error instanceof Error)
    return new CommandFailure(error.message);
  return error;
}
