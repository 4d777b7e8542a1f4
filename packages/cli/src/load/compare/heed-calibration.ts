import { CommandFailure } from "../../terminal/failure.ts";
import type { RunSetup } from "../output/run-setup.ts";
import {
  DEFAULT_CALIBRATION_FILE,
  foreignness,
  readCalibration,
  refuseBelowFloor,
} from "./calibration.ts";
import type { CompareContext } from "./compare-command.ts";

/**
 * Holds the thresholds against the noise floor that was measured here, where it was. Throws a {@link CommandFailure} for one below it, and
 * for a file that was named and is none.
 *
 * @param runs - of the smaller side.
 * @returns what to say of it in the report.
 */
export function heedCalibration(
  { flags, version, thresholds, quantities }: CompareContext,
  setup: RunSetup,
  runs: number,
): string[] {
  const file = flags.calibration ?? DEFAULT_CALIBRATION_FILE;
  const calibration = readCalibration(file);
  if (calibration === undefined) {
    if (flags.calibration === undefined)
      return ["This host's noise floor is not known: bobtail load URL --calibrate measures it."];
    throw new CommandFailure(
      `--calibration ${file}: there is no such file`,
      "Make it with bobtail load URL --calibrate, or leave the option out.",
    );
  }
  const foreign = foreignness(calibration, setup, version);
  if (foreign !== undefined) return [`${file} was not heeded: ${foreign}.`];
  refuseBelowFloor(calibration, { thresholds, quantities, runs });
  return [
    `The thresholds are above this host's noise floor of ${calibration.createdAt} (${file}).`,
  ];
}
