import { EXIT } from "../../terminal/failure.ts";
import { readRequest } from "../command/load-request.ts";
import { tellUnanswered } from "../command/tell-unanswered.ts";
import { refuseMismatch } from "./comparable.ts";
import type { CompareContext } from "./compare-command.ts";
import { putOutComparison } from "./comparison-output.ts";
import { isWorse, reportRuns } from "./comparison-report.ts";
import { heedCalibration } from "./heed-calibration.ts";
import { measureSides, runsAsked } from "./measure-sides.ts";

/** Measures two URLs in turns and says which is worse. */
export async function compareLive(
  nameA: string,
  nameB: string,
  context: CompareContext,
): Promise<void> {
  const { flags, version, thresholds, quantities } = context;
  const a = await readRequest([nameA], flags);
  const b = await readRequest([nameB], flags);
  refuseMismatch([
    { name: nameA, setup: a.setup, version },
    { name: nameB, setup: b.setup, version },
  ]);
  const notes = heedCalibration(context, a.setup, runsAsked(context));
  const { runsA, runsB, stopped, partial } = await measureSides({ a, b }, context);
  const report = reportRuns(
    { nameA, nameB, runsA, runsB, version, partial, notes },
    { quantities, thresholds },
  );
  await putOutComparison(report, flags);
  const unanswered = [runsA, runsB].filter((runs) => tellUnanswered(runs));
  // A signal has set its own.
  if (stopped?.why === "generator-limited") process.exitCode = EXIT.notValid;
  else if (isWorse(report)) process.exitCode ??= EXIT.regression;
  else process.exitCode ??= unanswered.length > 0 ? EXIT.failed : EXIT.ok;
}
