import { EXIT } from "../../terminal/failure.ts";
import { paletteFor } from "../../terminal/palette.ts";
import { readRequest } from "../command/load-request.ts";
import { unansweredFailure } from "../command/tell-unanswered.ts";
import { setupHash } from "../output/run-setup.ts";
import {
  type Calibration,
  calibrationJson,
  checkCalibrationFile,
  DEFAULT_CALIBRATION_FILE,
  floorsOf,
  thisHost,
  writeCalibration,
} from "./calibration.ts";
import { calibrationText } from "./calibration-text.ts";
import type { CompareContext } from "./compare-command.ts";
import { reportRuns } from "./comparison-report.ts";
import { measureSides } from "./measure-sides.ts";

/**
 * Measures a URL against itself and keeps what came of it: a change below that is noise here. A calibration that was stopped is not kept, nor one
 * of a URL that answers nothing: throws a `CommandFailure` for that.
 */
export async function calibrate(url: string, context: CompareContext): Promise<void> {
  const { flags, version, thresholds, quantities } = context;
  const file = flags.calibration ?? DEFAULT_CALIBRATION_FILE;
  checkCalibrationFile(file);
  const request = await readRequest([url], flags);
  const { runsA, runsB, stopped, partial } = await measureSides(
    { a: request, b: request },
    context,
  );
  const unanswered = unansweredFailure([...runsA, ...runsB]);
  // Errors that come at once hardly differ: such a floor would refuse nothing.
  if (unanswered !== undefined && stopped === undefined) throw unanswered;
  const report = reportRuns(
    { nameA: url, nameB: url, runsA, runsB, version, partial, notes: [] },
    { quantities, thresholds },
  );
  const calibration: Calibration = {
    host: thisHost(),
    setupSha256: setupHash(request.setup, version),
    runs: Math.min(runsA.length, runsB.length),
    createdAt: new Date().toISOString(),
    floors: floorsOf(report.comparison),
  };
  if (stopped === undefined) writeCalibration(file, calibration, version);
  process.stdout.write(
    flags.json === true
      ? `${JSON.stringify({ ...calibrationJson(calibration, version), partial: partial !== "" }, null, 2)}\n`
      : calibrationText(report, calibration, {
          file,
          palette: paletteFor(process.stdout),
        }),
  );
  if (stopped?.why === "generator-limited") process.exitCode = EXIT.notValid;
}
