import { CommandFailure, EXIT } from "../../terminal/failure.ts";
import { tellUnanswered } from "../command/tell-unanswered.ts";
import { readResult } from "../output/read-result.ts";
import { snakeKey } from "../output/snake-case.ts";
import {
  type NamedRun,
  refuseMismatch,
  refuseTwice,
  refuseUnsound,
  unsoundness,
} from "./comparable.ts";
import type { CompareContext } from "./compare-command.ts";
import { compareSingles } from "./compare-singles.ts";
import { putOutComparison } from "./comparison-output.ts";
import { isWorse, reportRuns } from "./comparison-report.ts";
import { heedCalibration } from "./heed-calibration.ts";
import { MAX_RUNS } from "./rank-sum.ts";

/** Stored runs: one a side is described, several are judged. */
export async function compareStored(
  filesA: readonly string[],
  filesB: readonly string[],
  context: CompareContext,
): Promise<void> {
  const { flags, version, thresholds, quantities } = context;
  refuseRunFlags(flags);
  const [runsA, runsB] = [await readSide(filesA), await readSide(filesB)];
  refuseMismatch([...runsA, ...runsB]);
  const [a, b] = [runsA[0], runsB[0]];
  if (a === undefined || b === undefined)
    throw new CommandFailure("a side of the comparison has no files", "Name one at least.");
  const [nameA, nameB] = [sideName(filesA), sideName(filesB)];
  if (runsA.length === 1 && runsB.length === 1) {
    const singles = compareSingles(a, b, quantities);
    const head = { kind: "singles", version, nameA, nameB, setup: a.setup } as const;
    return putOutComparison({ ...head, singles, warnings: unsoundness([a, b]) }, flags);
  }
  refuseTwice([...runsA, ...runsB]);
  refuseUnsound([...runsA, ...runsB]);
  const notes = heedCalibration(context, a.setup, Math.min(runsA.length, runsB.length));
  const report = reportRuns(
    { nameA, nameB, runsA, runsB, version, partial: "", notes },
    { quantities, thresholds },
  );
  await putOutComparison(report, flags);
  const unanswered = [runsA, runsB].filter((runs) => tellUnanswered(runs));
  if (isWorse(report)) process.exitCode = EXIT.regression;
  else process.exitCode = unanswered.length > 0 ? EXIT.failed : EXIT.ok;
}

/** What says how a run is made. */
const RUN_FLAGS: readonly (keyof CompareContext["flags"])[] = [
  ...(["runs", "rate", "steps", "duration", "warmup", "arrivals", "seed", "trace"] as const),
  ...(["timeout", "maxInFlight", "connections", "workers", "http2", "sse"] as const),
  ...(["insecure", "ca", "method", "header", "body", "weights", "iOwnThis"] as const),
];

/** Whoever gives them takes the files for something else. */
function refuseRunFlags(flags: CompareContext["flags"]): void {
  const stray = RUN_FLAGS.find((name) => flags[name] !== undefined);
  if (stray === undefined) return;
  throw new CommandFailure(
    `--${snakeKey(stray).replaceAll("_", "-")} is of runs to be made, and these are stored`,
    "Leave it out, or compare URLs.",
  );
}

async function readSide(files: readonly string[]): Promise<NamedRun[]> {
  if (files.length > MAX_RUNS)
    throw new CommandFailure(`${files.length} files on one side`, `Name at most ${MAX_RUNS}.`);
  const runs: NamedRun[] = [];
  for (const file of files) {
    const result = await readResult(file);
    if (result.kind !== "run")
      throw new CommandFailure(
        `${file}: it holds ${result.kind === "sweep" ? "a sweep" : "a search"} of several runs`,
        "Compare single runs: bobtail load --out FILE.json.",
      );
    runs.push({ ...result.run, name: file });
  }
  return runs;
}

function sideName(files: readonly string[]): string {
  const [first = ""] = files;
  return files.length === 1 ? first : `${first} and ${files.length - 1} more`;
}
