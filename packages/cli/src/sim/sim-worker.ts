/** A thread that computes tasks of one plan, one at a time, until it is ended. */
import { parentPort, workerData } from "node:worker_threads";
import { taskComputer, type WorkOrder } from "./compute-task.ts";

const compute = taskComputer(workerData as WorkOrder);
parentPort?.on("message", (task: number) => {
  parentPort?.postMessage({ task, result: compute(task) });
});
