import type { LoadReport } from "../load-report.ts";
import type { RunSetup } from "./run-setup.ts";

/** What became of a `--fail-if`, or of an objective. */
export interface Verdict {
  /** As it was written. */
  readonly condition: string;
  /** `undecided`: the sample is too small, or all that is known is a bound. */
  readonly verdict: "held" | "failed" | "undecided";
  /** What was measured, as a person reads it: `61.2 ms`, `unbounded`, `3.1 %`. */
  readonly measured: string;
}

/** A run as it is shown and stored. */
export interface RunRecord extends Omit<LoadReport, "plan"> {
  /** Of the tool. */
  readonly version: string;
  readonly setup: RunSetup;
  readonly verdicts: readonly Verdict[];
}

/** `failed`: the run at that rate broke the objective. `generator-limited`: it says nothing of the target. */
export interface Probe {
  readonly ratePerSec: number;
  readonly phase: "grow" | "shrink" | "bisect" | "confirm";
  readonly outcome: "held" | "failed" | "undecided" | "generator-limited";
  readonly measured: string;
  readonly run: RunRecord;
}

/** Latency against rate. */
export interface SweepRecord {
  readonly kind: "sweep";
  readonly runs: readonly RunRecord[];
  /** Why it ended before its last rate; undefined when it did not. */
  readonly stopped: string | undefined;
}

/** The highest rate that keeps an objective. */
export interface LimitRecord {
  readonly kind: "limit";
  readonly objective: string;
  readonly probes: readonly Probe[];
  /** Confirmed by a run of its own; undefined: none was found. */
  readonly ratePerSec: number | undefined;
  /** Why it ended there. */
  readonly because: string;
}

interface SingleRecord {
  readonly kind: "run";
  readonly run: RunRecord;
}

/** What one command measured, and what one file holds. */
export type LoadResult = SingleRecord | SweepRecord | LimitRecord;

/** The runs in it, in their order. */
export function runsOf(result: LoadResult): readonly RunRecord[] {
  switch (result.kind) {
    case "run":
      return [result.run];
    case "sweep":
      return result.runs;
    case "limit":
      return result.probes.map(({ run }) => run);
  }
}
