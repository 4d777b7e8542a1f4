import type { HeadlineQuantile } from "../load/load-report.ts";
import type { Grade } from "./grade.ts";
import type { Oracle } from "./oracle/oracle.ts";
import type { TrialSetup } from "./scenarios/scenario.ts";

/** Of all requests, failed ones infinite; undefined where the sample does not support it. */
export type Percentile = HeadlineQuantile | "unbounded" | undefined;

/** Of the requests that were answered well; undefined as above. */
interface SuccessOnly {
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly p999Ms: number | undefined;
}

/** Who used how much of the machine while it was measured, in cores; undefined where the system does not say. */
export interface CpuCores {
  readonly generator: number | undefined;
  readonly fleet: number | undefined;
  readonly target: number | undefined;
}

/** One balancer in one scenario. Times are divided by the cell's `factor`. */
export interface CellFigures {
  /** Sent or dropped; those of the warm-up are not counted anywhere. */
  readonly requests: number;
  readonly failed: number;
  readonly failedRatio: number;
  readonly p50: Percentile;
  readonly p99: Percentile;
  readonly p999: Percentile;
  readonly successOnly: SuccessOnly;
  /** What the sample proves at 95 %; see `grade.ts`. */
  readonly provenP99Ms: number | undefined;
  /** Undefined also where the generator's own lateness reaches that far. */
  readonly provenP999Ms: number | undefined;
  readonly provenFailedRatio: number;
  /** Of the attempts that reached the fleet, those that reached the sick backends. */
  readonly sickShareRatio: number;
  /** Attempts that reached the fleet / requests sent - 1; below 0 where requests did not reach it. */
  readonly extraRatio: number;
  readonly sendLagP99Ms: number | undefined;
  readonly replyLagP99Ms: number | undefined;
  /** The greater of the two, beside the mean service time: what this machine adds. */
  readonly latenessRatio: number;
  readonly cpu: CpuCores;
  /** HTTP status or transport error by number of requests, most frequent first; at most four. */
  readonly failures: readonly (readonly [string, number])[];
}

/**
 * - `graded`: it stands
 * - `not-valid`: the generator, the fleet or this machine was the limit, and not the target; or the requests are too few
 * - `died`: the target ended by itself, which is an F
 * - `not-started`: the target refused to start, which is no grade
 * - `stopped`: ended by the user before its time
 */
type CellState = "graded" | "not-valid" | "died" | "not-started" | "stopped";

export interface TrialCell {
  readonly target: string;
  readonly scenario: string;
  readonly state: CellState;
  readonly grade: Grade | undefined;
  /** What decided the grade, or what went wrong; empty for an A. */
  readonly why: string;
  readonly figures: CellFigures | undefined;
  /** All times were longer by it. */
  readonly factor: number;
  /** It was run again, slower, since the first run was not valid. */
  readonly isRetry: boolean;
}

export interface ReportedTarget {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /** As it was given in the first cell, ports and all; empty before. */
  readonly config: string;
  readonly notes: readonly string[];
  /** What was noticed on the way to it: a URL that reaches only part of the fleet. */
  readonly warnings: readonly string[];
}

export interface ReportedScenario {
  readonly name: string;
  readonly title: string;
  readonly question: string;
  readonly health: string;
  readonly ratePerSec: number;
  readonly oracle: Oracle;
}

export interface TrialReport {
  readonly version: string;
  /** As one would type it again. */
  readonly command: string;
  /** At factor 1. */
  readonly setup: TrialSetup;
  readonly targets: readonly ReportedTarget[];
  readonly scenarios: readonly ReportedScenario[];
  /** In the order in which they ran. */
  readonly cells: readonly TrialCell[];
  readonly plannedCells: number;
  readonly partial: boolean;
}

export function cellOf(
  report: Pick<TrialReport, "cells">,
  scenario: string,
  target: string,
): TrialCell | undefined {
  return report.cells.find((cell) => cell.scenario === scenario && cell.target === target);
}
