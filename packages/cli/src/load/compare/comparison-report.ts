import type { RunRecord } from "../output/run-record.ts";
import type { RunSetup } from "../output/run-setup.ts";
import { steadinessOf } from "../output/steadiness.ts";
import type { CompareOptions, Comparison } from "./compare-runs.ts";
import { compareRuns } from "./compare-runs.ts";
import type { SinglesComparison } from "./compare-singles.ts";
import { figuresOf } from "./run-figures.ts";
import type { SteadyState } from "./steady-state.ts";

interface ReportHead {
  /** Of the tool. */
  readonly version: string;
  /** URLs or files. */
  readonly nameA: string;
  readonly nameB: string;
  /** Of the first run of A. */
  readonly setup: RunSetup;
}

/** Several runs a side, and what they say of the next ones. */
export interface RunsReport extends ReportHead {
  readonly kind: "runs";
  readonly comparison: Comparison;
  readonly steadyA: SteadyState;
  readonly steadyB: SteadyState;
  /** Between the values that steadiness is judged by. */
  readonly intervalMs: number;
  /** Why there are fewer runs than asked for; empty when there are not. */
  readonly partial: string;
  /** Things to know: which calibration was heeded or not. */
  readonly notes: readonly string[];
}

/** One stored run a side. */
export interface SinglesReport extends ReportHead {
  readonly kind: "singles";
  readonly singles: SinglesComparison;
  /** Why a run's figures do not stand; a sentence each. */
  readonly warnings: readonly string[];
}

export type ComparisonReport = RunsReport | SinglesReport;

export interface SidesToReport {
  readonly nameA: string;
  readonly nameB: string;
  readonly runsA: readonly RunRecord[];
  readonly runsB: readonly RunRecord[];
  readonly version: string;
  readonly partial: string;
  readonly notes: readonly string[];
}

/** @param sides - at least one run each. */
export function reportRuns(sides: SidesToReport, options: CompareOptions): RunsReport {
  const { nameA, nameB, runsA, runsB, version, partial, notes } = sides;
  const [first] = runsA;
  if (first === undefined) throw new RangeError("a comparison needs a run of each side");
  return {
    kind: "runs",
    version,
    nameA,
    nameB,
    setup: first.setup,
    comparison: compareRuns(runsA.map(figuresOf), runsB.map(figuresOf), options),
    steadyA: steadinessOf(runsA),
    steadyB: steadinessOf(runsB),
    intervalMs: first.intervals[0]?.lengthMs ?? 1_000,
    partial,
    notes,
  };
}

/** Whether a script is to be stopped by it. */
export function isWorse({ comparison }: RunsReport): boolean {
  return comparison.compared.some(({ verdict }) => verdict.kind === "worse");
}
