import {
  type EncodedResult,
  encodeResult,
  type ScenarioTable,
  type SimResult,
  World,
} from "bobtail/sim";
import { builtInNamed, captureRows } from "./plan-built-in.ts";
import { type CellWorld, type SimPlan, taskAt } from "./sim-plan.ts";

/** What a thread needs to compute any task of a plan; plain data, sent once. */
export interface WorkOrder {
  readonly kind: SimPlan["kind"];
  readonly scenario: string;
  readonly scale: number;
  readonly seed: number;
  readonly digest: boolean;
  /** Batches make the interval of a single run; where there are several they are not needed. */
  readonly batches: boolean;
  readonly cellCount: number;
  readonly worlds: readonly CellWorld[];
}

/** A world's result, encoded; the figures of a sample; or a whole table. Plain data that JSON can hold. */
export type TaskResult = EncodedResult | Readonly<Record<string, number>> | ScenarioTable;

export function workOrderOf(plan: SimPlan): WorkOrder {
  return {
    kind: plan.kind,
    scenario: plan.name,
    scale: plan.scale,
    seed: plan.seed,
    digest: plan.digest,
    batches: plan.runs === 1,
    cellCount: plan.cells.length,
    worlds: plan.cells.flatMap((cell) => (cell.world === undefined ? [] : [cell.world])),
  };
}

/** Computes tasks one by one; the same task gives the same result on every thread and machine. */
export function taskComputer(order: WorkOrder): (task: number) => TaskResult {
  const { seed, digest, cellCount, worlds } = order;
  const samples =
    order.kind === "samples"
      ? captureRows(builtInNamed(order.scenario), order.scale).rows.samples
      : undefined;
  return (task) => {
    const { cell, run } = taskAt(cellCount, task);
    if (samples !== undefined) return samples[cell]?.sample(seed + run) ?? {};
    if (order.kind === "whole") return builtInNamed(order.scenario).run();
    const world = worlds[cell] as CellWorld;
    const result = new World({ ...world, seed: seed + run }, { digest }).run();
    return encodeResult(order.batches ? result : withoutBatches(result));
  };
}

function withoutBatches(result: SimResult): SimResult {
  return { ...result, batches: [] };
}
