import type { Place } from "../plan/latency-log.ts";
import { isLatencyName } from "../plan/latency-name.ts";
import { type LatencyUnit, MS_PER_LATENCY_UNIT, unitOfName } from "../plan/latency-unit.ts";
import { CommandFailure } from "../terminal/failure.ts";
import type { TraceOptions } from "./trace.ts";

const TIME_NAME =
  /(?:^|[_.@\s-])(?:time|timestamp|ts|at|arrival|arrived|start|started|date)(?:$|[_.\s(-])/i;
const SIZE_NAME = /(?:^|[_.\s-])(?:size|service|work|cost)(?:$|[_.\s(-])/i;

/** Which names hold the arrival and what a request took. */
export interface TraceFields {
  readonly time: string;
  readonly size: string;
}

/** By what the user says, else by the names. Fails with a `CommandFailure` that lists them. */
export function chooseFields(
  names: readonly string[],
  options: TraceOptions,
  place: Place,
): TraceFields {
  const size =
    options.sizeField ??
    only(
      names.filter(isSizeName),
      { names, what: "the size or latency", flag: "--size-field" },
      place,
    );
  const rest = names.filter((name) => name !== size);
  return { time: chooseTimeField(rest, options, place), size };
}

/** By what the user says, else by the names, of which it must be the only one. */
export function chooseTimeField(
  names: readonly string[],
  { timeField }: Pick<TraceOptions, "timeField">,
  place: Place,
): string {
  const wanted = { names, what: "the arrival", flag: "--time-field" };
  return timeField ?? only(names.filter(isTimeName), wanted, place);
}

export function measureOf(sizeField: string): "latency" | "size" {
  return isLatencyName(sizeField) && !SIZE_NAME.test(spaced(sizeField)) ? "latency" : "size";
}

function isSizeName(name: string): boolean {
  return isLatencyName(name) || SIZE_NAME.test(spaced(name));
}

function isTimeName(name: string): boolean {
  return !isSizeName(name) && TIME_NAME.test(spaced(name));
}

/** `arrivalMs` is two words. */
function spaced(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2");
}

function only(
  found: readonly string[],
  wanted: { readonly names: readonly string[]; readonly what: string; readonly flag: string },
  place: Place,
): string {
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const { names, what, flag } = wanted;
  const shown = names.slice(0, 20).map((name) => JSON.stringify(name.slice(0, 40)));
  throw new CommandFailure(
    `${place()}: ${found.length > 1 ? "several names could be" : "nothing is named as"} ${what}, of ${shown.join(", ") || "none"}`,
    `Name it: ${flag} NAME.`,
  );
}

/** Turns a written time into ms: ISO 8601 texts, or numbers in a unit that somebody states. NaN: neither. */
export function timeReader(
  name: string,
  { timeUnit }: TraceOptions,
  place: Place,
): (written: unknown) => number {
  const unit: LatencyUnit | undefined = timeUnit ?? unitOfName(name);
  return (written) => {
    const value = typeof written === "string" && written.trim() !== "" ? Number(written) : written;
    if (typeof value === "number" && !Number.isNaN(value)) {
      if (unit !== undefined) return value * MS_PER_LATENCY_UNIT[unit];
      throw new CommandFailure(
        `${place()}: ${name === "" ? "the arrivals have" : `${JSON.stringify(name)} has`} no unit`,
        "Say it with --time-unit ns, us, ms or s. A name such as at_ms, or ISO 8601 times, state it too.",
      );
    }
    return typeof written === "string" && /^\d{4}-\d\d-\d\d/.test(written.trim())
      ? Date.parse(written.trim())
      : Number.NaN;
  };
}
