import {
  type BuiltInScenario,
  type RowRunner,
  type ScenarioTable,
  scenarioNamed,
  scenarios,
} from "bobtail/sim";
import { nearest } from "../policy-file/nearest.ts";
import { CommandFailure } from "../terminal/failure.ts";
import { applySettings, type Subject } from "./settings.ts";
import type { SimJob } from "./sim-job.ts";
import type { CapturedRows, PlanCell, SimPlan } from "./sim-plan.ts";

const DEFAULT_RUNS = 5;
/** Below, the few thousand samples of a row do not carry the percentiles that it prints. */
const MIN_SAMPLED_SCALE = 0.2;

/** The scenario of that name, or a failure that names the nearest. */
export function builtInNamed(name: string): BuiltInScenario {
  const found = scenarioNamed(name);
  if (found !== undefined) return found;
  const near = nearest(
    name,
    scenarios.map((scenario) => scenario.name),
  );
  throw new CommandFailure(
    `there is no built-in scenario "${name}", and no such file`,
    near === undefined ? "`bobtail sim list` names them." : `Did you mean ${near}?`,
  );
}

/** The rows of a scenario that has some, not computed. */
export function captureRows(
  scenario: BuiltInScenario,
  scale: number,
): { readonly table: ScenarioTable; readonly rows: CapturedRows } {
  const rows: CapturedRows = {};
  const rowsBy: RowRunner = {
    worlds(worlds, statistics) {
      Object.assign(rows, { worlds, statistics });
      return [];
    },
    samples(samples) {
      rows.samples = samples;
      return [];
    },
  };
  return { table: scenario.run({ scale, rowsBy, runs: 1 }), rows };
}

export async function planBuiltIn(job: SimJob): Promise<SimPlan> {
  const { name } = job.source as Extract<SimJob["source"], { kind: "built-in" }>;
  const scenario = builtInNamed(name);
  if (scenario.isWhole === true) return planWhole(job, scenario);
  const { table, rows } = captureRows(scenario, job.scale);
  const isChanged = job.sets.length > 0 || job.sweeps.length > 0;
  if (rows.worlds === undefined) refuseWithoutWorlds(job, MIN_SAMPLED_SCALE);
  const notes = isChanged
    ? [
        ...table.notes,
        "Changed by --set or --sweep: rows keep the scenario's names and are beside no published figure.",
      ]
    : table.notes;
  const plan = {
    name,
    title: scenario.title,
    source: scenario.source,
    notes,
    columns: table.columns,
    statistics: rows.statistics ?? {},
    runs: job.runs ?? DEFAULT_RUNS,
    seed: job.seed ?? 1,
    scale: job.scale,
    digest: false,
  };
  if (rows.worlds !== undefined) return { ...plan, kind: "worlds", ...(await cellsOf(job, rows)) };
  const cells = (rows.samples ?? []).map((row): PlanCell => {
    const { name: rowName, article, exact } = row;
    return { name: rowName, at: [], article, exact };
  });
  return { ...plan, kind: "samples", axes: [], cells };
}

function planWhole(job: SimJob, { name, title, source }: BuiltInScenario): SimPlan {
  refuseWithoutWorlds(job, 0);
  return {
    kind: "whole",
    ...{ name, title, source },
    notes: [],
    columns: [],
    statistics: {},
    axes: [],
    cells: [{ name, at: [] }],
    runs: 1,
    seed: 1,
    scale: 1,
    digest: false,
  };
}

async function cellsOf(job: SimJob, rows: CapturedRows): Promise<Pick<SimPlan, "axes" | "cells">> {
  const worlds = rows.worlds ?? [];
  const subjects = worlds.map((row): Subject => ({ name: row.name, data: row.world }));
  const isChanged = job.sets.length > 0 || job.sweeps.length > 0;
  const swept = await applySettings(subjects, job);
  const points = swept.subjects.length / worlds.length;
  const cells = swept.subjects.map(({ name, data, at }, i): PlanCell => {
    const row = Math.floor(i / points);
    const { article, exact } = isChanged ? {} : (worlds[row] ?? {});
    const { policy = {}, policies: _, name: __, runs: ___, seed: ____, ...setup } = data;
    return { name, at, world: { ...setup, policy }, article, exact };
  });
  return { axes: swept.axes, cells };
}

function refuseWithoutWorlds(job: SimJob, minScale: number): void {
  const { name } = job.source as Extract<SimJob["source"], { kind: "built-in" }>;
  const [flag] = [...job.sets.map((s) => `--set ${s}`), ...job.sweeps.map((s) => `--sweep ${s}`)];
  if (flag !== undefined)
    throw new CommandFailure(
      `${flag}: ${name} is computed without a world, so nothing in it can be set`,
      "`bobtail sim slow-backend` is one that is a world; a scenario file is too.",
    );
  if (job.scale < minScale)
    throw new CommandFailure(
      `--scale ${job.scale}: ${name} would draw too few samples for its percentiles`,
      `Give at least ${minScale}.`,
    );
}
