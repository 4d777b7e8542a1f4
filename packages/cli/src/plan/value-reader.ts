import { CommandFailure } from "../terminal/failure.ts";
import type { LogOptions, ReaderSetup } from "./latency-log.ts";
import {
  type LatencyUnit,
  MS_PER_LATENCY_UNIT,
  readLatencyMs,
  unitOfName,
} from "./latency-unit.ts";

/** Turns written values into milliseconds, with a unit that is stated by somebody. */
export interface ValueReader {
  /** A number, in ms; NaN for text that is none. Fails when no unit is known. */
  toMs(written: unknown): number;
}

type Said = Pick<ReaderSetup, "options" | "place">;

/** @param name - of the column or field: it may state the unit. `--unit` wins. */
export function valueReader(name: string, setup: Said): ValueReader {
  const unit = setup.options.unit ?? unitOfName(name);
  const factor = unit === undefined ? undefined : MS_PER_LATENCY_UNIT[unit];
  return {
    toMs(written) {
      if (typeof written === "number")
        return factor === undefined ? noUnit(name, setup) : written * factor;
      if (typeof written !== "string") return Number.NaN;
      const text = written.trim();
      const value = text === "" ? Number.NaN : Number(text);
      if (Number.isNaN(value)) return readLatencyMs(text) ?? Number.NaN;
      return factor === undefined ? noUnit(name, setup) : value * factor;
    },
  };
}

/** For formats whose variables have one unit; `--unit` wins here too. */
export function fixedFactor(options: LogOptions, unit: LatencyUnit): number {
  return MS_PER_LATENCY_UNIT[options.unit ?? unit];
}

function noUnit(name: string, { place }: Said): never {
  const what = name === "" ? "the latencies have" : `${JSON.stringify(name)} has`;
  throw new CommandFailure(
    `${place()}: ${what} no unit`,
    "Say it with --unit ns, us, ms or s. A name such as latency_ms, or values such as 12.3ms, state it too.",
  );
}

/** Whether a written flag is set: true, 1, yes, and words for a call that was cut short. */
export function isSet(written: unknown): boolean {
  if (typeof written === "boolean") return written;
  if (typeof written === "number") return written !== 0;
  if (typeof written !== "string") return false;
  return /^(?:true|t|1|yes|y|cancell?ed|censored|aborted|superseded|timeout)$/i.test(
    written.trim(),
  );
}
