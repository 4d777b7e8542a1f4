import type { Column, SampleRow, Statistic, WorldOptions, WorldRow } from "bobtail/sim";
import { CommandFailure } from "../terminal/failure.ts";
import { planBuiltIn } from "./plan-built-in.ts";
import { planFile } from "./plan-file.ts";
import type { SimJob } from "./sim-job.ts";

/** A value that a swept parameter takes. */
export type AxisValue = string | number | boolean;

export interface SweepAxis {
  readonly path: string;
  readonly values: readonly AxisValue[];
}

/** A world without its seed: what a replication is made from. */
export type CellWorld = Omit<WorldOptions, "seed">;

/** One row of the table to come. */
export interface PlanCell {
  readonly name: string;
  /** Of each axis, in their order. */
  readonly at: readonly AxisValue[];
  readonly world?: CellWorld | undefined;
  readonly article?: Readonly<Record<string, number>> | undefined;
  readonly exact?: Readonly<Record<string, number>> | undefined;
}

/**
 * What is computed and how it is shown. `worlds`: each cell is a world, run on several seeds. `samples`: each cell is a
 * function of the seed. `whole`: a table that has no parts is computed by one task.
 */
export interface SimPlan {
  readonly kind: "worlds" | "samples" | "whole";
  readonly name: string;
  readonly title: string;
  readonly source?: string | undefined;
  readonly notes: readonly string[];
  readonly columns: readonly Column[];
  readonly statistics: Readonly<Record<string, Statistic>>;
  readonly axes: readonly SweepAxis[];
  readonly cells: readonly PlanCell[];
  readonly runs: number;
  readonly seed: number;
  readonly scale: number;
  /** Whether each run's decisions are digested. */
  readonly digest: boolean;
}

/** Rows of a built-in scenario, before anything is run. */
export interface CapturedRows {
  worlds?: readonly WorldRow[];
  statistics?: Readonly<Record<string, Statistic>>;
  samples?: readonly SampleRow[];
}

const MAX_TASKS = 100_000;

/** Throws a {@link CommandFailure} for what the user can mend. */
export async function planJob(job: SimJob): Promise<SimPlan> {
  const plan = job.source.kind === "file" ? await planFile(job) : await planBuiltIn(job);
  const count = taskCount(plan);
  if (count > MAX_TASKS)
    throw new CommandFailure(
      `${plan.cells.length} rows of ${plan.runs} runs are ${count} runs, at most ${MAX_TASKS}`,
      "Sweep over fewer values, or take fewer --runs.",
    );
  return plan;
}

/** Runs of all cells. A task is a number below it: all cells of the first seed, then of the second. */
export function taskCount(plan: SimPlan): number {
  return plan.cells.length * plan.runs;
}

export function taskAt(
  cellCount: number,
  task: number,
): { readonly cell: number; readonly run: number } {
  return { cell: task % cellCount, run: Math.floor(task / cellCount) };
}
