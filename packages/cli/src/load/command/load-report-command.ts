import { CommandFailure } from "../../terminal/failure.ts";
import { paletteFor } from "../../terminal/palette.ts";
import { mergeRuns } from "../output/merge-runs.ts";
import { checkOutFiles } from "../output/out-files.ts";
import { putOutResult } from "../output/put-out-result.ts";
import { readResult } from "../output/read-result.ts";
import { type LoadResult, type RunRecord, runsOf } from "../output/run-record.ts";
import { type NamedRun, sideBySide } from "../output/side-by-side.ts";
import type { Condition } from "./condition.ts";
import { exitCodeOf } from "./exit-code.ts";
import { judgeFailIf } from "./judge.ts";
import type { OutputFlags } from "./load-flags.ts";
import { tellUnanswered } from "./tell-unanswered.ts";

export interface ReportFlags extends OutputFlags {
  readonly merge?: boolean;
  readonly failIf?: readonly Condition[];
}

/** `bobtail load report`: stored results again, alone, side by side, or as one. */
export async function loadReport(
  files: readonly string[],
  flags: ReportFlags,
  version: string,
): Promise<void> {
  const results: { readonly file: string; readonly result: LoadResult }[] = [];
  for (const file of files) results.push({ file, result: await readResult(file) });
  const [only] = results;
  const isOne = flags.merge === true || results.length === 1;
  if (!isOne) {
    const runs = results.map(({ file, result }) => singleRun(file, result));
    if (flags.json === true || flags.out !== undefined || flags.failIf !== undefined)
      throw new CommandFailure(
        "--json, --out and --fail-if are of one result, and these are several",
        "Give --merge to make them one, or one file.",
      );
    process.stdout.write(sideBySide(runs, paletteFor(process.stdout)));
    return;
  }
  if (only === undefined) throw new CommandFailure("no file to report", "Name one.");
  const merged: LoadResult =
    flags.merge === true
      ? { kind: "run", run: mergeRuns(results.map(({ file, result }) => singleRun(file, result))) }
      : only.result;
  const result = judged(merged, flags.failIf);
  checkOutFiles(flags.out ?? [], result.kind);
  const { json, out } = flags;
  await putOutResult(result, { json, out, version });
  tellUnanswered(runsOf(result));
  process.exitCode ??= exitCodeOf(result);
}

/** With conditions of its own a report judges anew: every run of a sweep, too. Throws a {@link CommandFailure} for a search. */
export function judged(result: LoadResult, failIf: readonly Condition[] | undefined): LoadResult {
  if (failIf === undefined) return result;
  const judge = (run: RunRecord): RunRecord => ({
    ...run,
    verdicts: failIf.map((condition) => judgeFailIf(condition, run)),
  });
  switch (result.kind) {
    case "run":
      return { kind: "run", run: judge(result.run) };
    case "sweep":
      return { ...result, runs: result.runs.map(judge) };
    case "limit":
      throw new CommandFailure(
        `--fail-if: this is a search, which was judged by its own objective (${result.objective})`,
        "Leave it out.",
      );
  }
}

function singleRun(file: string, result: LoadResult): NamedRun {
  if (result.kind === "run") return { file, run: result.run };
  throw new CommandFailure(
    `${file}: it holds ${result.kind === "sweep" ? "a sweep" : "a search"} of several runs`,
    "Report it alone.",
  );
}
