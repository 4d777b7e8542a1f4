import { isSupported, MIN_EXCEEDANCES } from "bobtail/plan";
import {
  batchInterval,
  type Cell,
  type Column,
  decodeResult,
  type EncodedResult,
  mergeResults,
  type ScenarioTable,
  type SimResult,
  sampleTableRow,
  type TableRow,
  worldTableRow,
} from "bobtail/sim";
import type { TaskResult } from "./compute-task.ts";
import { type PlanCell, type SimPlan, type SweepAxis, taskCount } from "./sim-plan.ts";

/** A value with its interval and what it stands beside; null where the sample does not carry it. */
export interface ReportCell {
  readonly value: number | null;
  /** Why it is null. */
  readonly why?: string | undefined;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  readonly article?: number | undefined;
  readonly exact?: number | undefined;
}

export interface ReportRow {
  readonly name: string;
  readonly at: PlanCell["at"];
  /** Replications in it: fewer than asked for when the simulation was ended early. */
  readonly runs: number;
  readonly cells: Readonly<Record<string, ReportCell>>;
  /** Of a world: each replication, and their sum. */
  readonly results?: { readonly each: readonly SimResult[]; readonly all: SimResult } | undefined;
}

/** All that a simulation found, ready to be shown. */
export interface SimReport {
  readonly name: string;
  readonly title: string;
  readonly source?: string | undefined;
  readonly version: string;
  readonly runs: number;
  readonly seed: number;
  readonly scale: number;
  readonly sets: readonly string[];
  readonly axes: readonly SweepAxis[];
  readonly columns: readonly Column[];
  readonly rows: readonly ReportRow[];
  readonly notes: readonly string[];
  readonly doneRuns: number;
  readonly totalRuns: number;
  /** Whether it was ended before all runs were done. */
  readonly partial: boolean;
  readonly intervals: "replications" | "batch means" | "none";
}

/** Puts results of tasks together, by row and in the order of their seeds, wherever they were computed. */
export function reportOf(
  plan: SimPlan,
  results: ReadonlyMap<number, TaskResult>,
  { version, sets }: { readonly version: string; readonly sets: readonly string[] },
): SimReport {
  const whole = plan.kind === "whole" ? (results.get(0) as ScenarioTable | undefined) : undefined;
  const { columns, notes } = whole ?? plan;
  const rows =
    whole === undefined
      ? plan.cells.map((cell, at) => rowOf(plan, cell, resultsAt(plan, at, results)))
      : whole.rows.map((row) => tableRow(columns, row, { at: [], runs: 1 }));
  const totalRuns = taskCount(plan);
  const hasIntervals = rows.some((row) =>
    Object.values(row.cells).some((c) => c.low !== undefined),
  );
  const { name, title, source, runs, seed, scale, axes } = plan;
  const by = runs > 1 ? "replications" : "batch means";
  return {
    ...{ name, title, source, version, runs, seed, scale, sets, axes, columns, rows, notes },
    doneRuns: results.size,
    totalRuns,
    partial: results.size < totalRuns,
    intervals: hasIntervals ? by : "none",
  };
}

/** Of one cell, in the order of the seeds. */
function resultsAt(
  plan: SimPlan,
  cell: number,
  results: ReadonlyMap<number, TaskResult>,
): TaskResult[] {
  const found: TaskResult[] = [];
  for (let run = 0; run < plan.runs; run++) {
    const result = results.get(run * plan.cells.length + cell);
    if (result !== undefined) found.push(result);
  }
  return found;
}

function rowOf(plan: SimPlan, cell: PlanCell, found: readonly TaskResult[]): ReportRow {
  const { name, at } = cell;
  const row = { name, at, runs: found.length };
  if (found.length === 0)
    return {
      ...row,
      cells: mapCells(plan.columns, () => ({ value: null, why: "no run was done" })),
    };
  if (plan.kind === "samples") {
    const figures = (found as readonly Readonly<Record<string, number | null>>[]).map(fromJson);
    return tableRow(plan.columns, sampleTableRow(cell, figures), row);
  }
  const each = found.map((result) => decodeResult(result as EncodedResult));
  const all = mergeResults(each);
  const table = worldTableRow(cell, each, plan.statistics);
  const cells = mapCells(plan.columns, (key) => worldCell(key, table, { each, all }));
  return { ...row, cells, results: { each, all } };
}

function tableRow(
  columns: readonly Column[],
  { name, cells }: TableRow,
  rest: Pick<ReportRow, "at" | "runs">,
): ReportRow {
  return { ...rest, name, cells: mapCells(columns, (key) => shown(cells[key])) };
}

type Results = NonNullable<ReportRow["results"]>;

function worldCell(key: string, table: TableRow, { each, all }: Results): ReportCell {
  const cell = shown(table.cells[key]);
  const quantile = quantileOfKey(key);
  const beside = { article: cell.article, exact: cell.exact };
  if (quantile !== undefined && !isSupported(countOf(all), quantile)) {
    const needed = Math.ceil(MIN_EXCEEDANCES / (1 - quantile) - 1e-6);
    const why = `needs ${needed} requests that succeed, has ${countOf(all)}`;
    return { value: null, why, ...beside };
  }
  if (each.length === 1)
    return { value: cell.value, why: cell.why, ...batches(key, all), ...beside };
  const carried = quantile === undefined || each.every((r) => isSupported(countOf(r), quantile));
  return carried ? cell : { value: cell.value, why: cell.why, ...beside };
}

/** JSON has no NaN. */
function fromJson(figures: Readonly<Record<string, number | null>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).map(([key, value]) => [key, value ?? Number.NaN]),
  );
}

/** One run is cut into consecutive parts, each of which must carry the statistic. */
function batches(key: string, all: SimResult): { low?: number; high?: number } {
  const quantile = quantileOfKey(key);
  if (quantile === undefined || all.batches.length < 2) return {};
  if (!all.batches.every((batch) => isSupported(batch.count, quantile))) return {};
  const { low, high } = batchInterval(all, (batch) => batch.quantile(quantile) / 1000);
  return Number.isNaN(low) ? {} : { low, high };
}

/** `p999` is the quantile 0.999. */
function quantileOfKey(key: string): number | undefined {
  const digits = /^p(\d{2,})$/.exec(key)?.[1];
  return digits === undefined ? undefined : Number(`0.${digits}`);
}

export function countOf(r: SimResult): number {
  return r.root.count > 0 ? r.root.count : r.latency.count;
}

function shown(cell: Cell | undefined): ReportCell {
  if (cell === undefined || !Number.isFinite(cell.value))
    return { value: null, why: "not known", article: cell?.article, exact: cell?.exact };
  return cell;
}

function mapCells(
  columns: readonly Column[],
  cellOf: (key: string) => ReportCell,
): Readonly<Record<string, ReportCell>> {
  return Object.fromEntries(columns.map(({ key }) => [key, cellOf(key)]));
}
