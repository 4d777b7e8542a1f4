import type { RunRecord } from "../output/run-record.ts";
import type { RunSetup } from "../output/run-setup.ts";
import type { CompareOptions, Comparison } from "./compare-runs.ts";
import { compareRuns } from "./compare-runs.ts";
import type { SinglesComparison } from "./compare-singles.ts";
import { figuresOf, p90Series } from "./run-figures.ts";
import { type SteadyState, steadyStateOf } from "./steady-state.ts";

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
    steadyA: steadyOf(runsA),
    steadyB: steadyOf(runsB),
    partial,
    notes,
  };
}

/** Whether a script is to be stopped by it. */
export function isWorse({ comparison }: RunsReport): boolean {
  return comparison.compared.some(({ verdict }) => verdict.kind === "worse");
}

/** Of a load that changes by itself there is no steady state to look for. */
function steadyOf(runs: readonly RunRecord[]): SteadyState {
  const isConstant = runs.every(
    ({ setup: { profile, traceSha256 } }) =>
      traceSha256 === "" &&
      profile.every(
        (one) => one.fromPerSec === profile[0]?.toPerSec && one.toPerSec === one.fromPerSec,
      ),
  );
  return isConstant ? steadyStateOf(runs.map(p90Series)) : { kind: "steady" };
}
