import { showSeconds } from "../../terminal/status-line.ts";
import type { LoadRequest } from "../command/load-request.ts";
import type { RunRecord } from "../output/run-record.ts";

type SideName = "A" | "B";

export interface ComparisonPlan {
  readonly a: LoadRequest;
  readonly b: LoadRequest;
  /** Of each side. */
  readonly runs: number;
  readonly signal: AbortSignal;
  /** One run from its first request to its last answer. */
  runOnce(request: LoadRequest, label: string): Promise<RunRecord>;
}

export interface MeasuredSides {
  readonly runsA: readonly RunRecord[];
  readonly runsB: readonly RunRecord[];
  /** Why there are fewer than asked for; undefined when there are not. */
  readonly stopped: Stopped | undefined;
}

type Stopped =
  | { readonly why: "signal" }
  | {
      readonly why: "generator-limited";
      /** From 1. */
      readonly run: number;
      readonly side: SideName;
      readonly reasons: readonly string[];
    };

/**
 * A B B A A B B A …: what drifts meets both sides alike. The two runs of a pair have the same seed, so the same planned moments;
 * each pair has another. A run that was stopped is left out; one whose generator was the bottleneck is run once more, and ends it all
 * if it is so again.
 */
export async function runComparison(plan: ComparisonPlan): Promise<MeasuredSides> {
  const sides: Record<SideName, RunRecord[]> = { A: [], B: [] };
  const total = 2 * plan.runs;
  let doneMs = 0;
  let stopped: Stopped | undefined;
  for (let i = 0; i < total && stopped === undefined; i++) {
    const side = sideOf(i);
    const request = seeded(side === "A" ? plan.a : plan.b, i >> 1);
    const eachMs = i === 0 ? lengthMs(request) : doneMs / i;
    const label = `compare ${i + 1} of ${total} (${side})`;
    const toGo = `${showSeconds(eachMs * (total - i))} to go`;
    let run = await plan.runOnce(request, `${label}, ${toGo}`);
    if (isSpoiled(run) && !plan.signal.aborted)
      run = await plan.runOnce(request, `${label} again: the generator was late, ${toGo}`);
    doneMs += run.wallMs;
    if (plan.signal.aborted || run.partial) stopped = { why: "signal" };
    else if (isSpoiled(run))
      stopped = { why: "generator-limited", run: i + 1, side, reasons: run.check.reasons };
    else sides[side].push(run);
  }
  return { runsA: sides.A, runsB: sides.B, stopped };
}

function isSpoiled({ check, partial }: RunRecord): boolean {
  return !partial && check.verdict === "generator-limited";
}

/** Of the `index`-th run from 0. */
function sideOf(index: number): SideName {
  return index % 4 === 0 || index % 4 === 3 ? "A" : "B";
}

function seeded({ options, setup }: LoadRequest, pair: number): LoadRequest {
  // Towards none where there is no greater whole number.
  const seed = setup.seed + (Number.isSafeInteger(setup.seed + pair) ? pair : -pair);
  return { options: { ...options, seed }, setup: { ...setup, seed } };
}

function lengthMs({ setup }: LoadRequest): number {
  return setup.warmupMs + setup.durationMs;
}
