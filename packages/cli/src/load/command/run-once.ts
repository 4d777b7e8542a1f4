import { startLoad } from "../load.ts";
import type { RunRecord } from "../output/run-record.ts";
import type { Condition } from "./condition.ts";
import { judgeFailIf } from "./judge.ts";
import { showProgress } from "./load-progress.ts";
import type { LoadRequest } from "./load-request.ts";

export interface RunOnceOptions {
  /** Ends the run with what it has. */
  readonly signal: AbortSignal;
  /** Of the tool, kept in the record. */
  readonly version: string;
  /** Before the progress: `load`, or `load 3 of 8, 400/s`. */
  readonly label: string;
  /** No progress on stderr. */
  readonly isQuiet: boolean;
  readonly failIf?: readonly Condition[] | undefined;
}

/** One run from its first request to its last answer, with its progress on stderr. */
export async function runOnce(request: LoadRequest, options: RunOnceOptions): Promise<RunRecord> {
  const { signal, version, label, isQuiet, failIf = [] } = options;
  const run = startLoad({ ...request.options, signal });
  const target = process.stderr;
  const endProgress = isQuiet
    ? () => undefined
    : showProgress(run, request.setup, { target, label });
  try {
    const { plan: _, ...report } = await run.report;
    const verdicts = failIf.map((condition) => judgeFailIf(condition, report));
    return { ...report, version, setup: request.setup, verdicts };
  } finally {
    endProgress();
  }
}
