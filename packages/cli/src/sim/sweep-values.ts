import { CommandFailure } from "../terminal/failure.ts";

/** One parameter and the values it takes, as written. */
export interface SweepFlag {
  readonly path: string;
  readonly values: readonly string[];
}

const MAX_VALUES = 1_000;
const EXAMPLE = "Write path=from..to:step, as arrivals.load=0.1..0.9:0.1, or path=a,b,c.";

/** `path=from..to:step`, both ends included, with a unit at each number or at none; or `path=a,b,c`. */
export function parseSweep(text: string): SweepFlag {
  const equals = text.indexOf("=");
  const path = text.slice(0, Math.max(0, equals)).trim();
  const written = text.slice(equals + 1).trim();
  if (equals < 1 || path === "" || written === "")
    throw new CommandFailure(`--sweep ${text}: expected a path and its values`, EXAMPLE);
  const range = /^(-?[\d.]+)([a-z%]*)\.\.(-?[\d.]+)([a-z%]*)(?::(-?[\d.]+)([a-z%]*))?$/.exec(
    written,
  );
  if (range === null && written.includes(".."))
    throw new CommandFailure(`--sweep ${text}: expected plain numbers round the dots`, EXAMPLE);
  const values = range === null ? splitList(written) : rangeOf(text, range);
  if (values.length > MAX_VALUES)
    throw new CommandFailure(
      `--sweep ${path}: ${values.length} values, at most ${MAX_VALUES}`,
      "Take longer steps.",
    );
  if (values.some((value) => value.trim() === ""))
    throw new CommandFailure(`--sweep ${text}: an empty value`, EXAMPLE);
  return { path, values };
}

function rangeOf(text: string, parts: RegExpExecArray): string[] {
  const [from, to, step] = [Number(parts[1]), Number(parts[3]), Number(parts[5] ?? "1")];
  const units = new Set([parts[2], parts[4], parts[6]].filter((u) => u !== undefined && u !== ""));
  if (![from, to, step].every(Number.isFinite) || units.size > 1)
    throw new CommandFailure(`--sweep ${text}: expected numbers of one unit`, EXAMPLE);
  if (step === 0 || Math.sign(step) !== Math.sign(to - from || step))
    throw new CommandFailure(
      `--sweep ${text}: a step of ${step} does not lead from ${from} to ${to}`,
      EXAMPLE,
    );
  // A hair more than the quotient: 0.1..0.3:0.1 has three values, though 0.2 / 0.1 in doubles is below 2.
  const steps = Math.floor(((to - from) / step) * (1 + 1e-12) + 1e-9);
  const count = Math.min(steps, MAX_VALUES) + 1;
  const [unit = ""] = units;
  return Array.from(
    { length: count },
    (_, i) => `${Number((from + i * step).toPrecision(12))}${unit}`,
  );
}

/** At commas outside brackets and quotes. */
function splitList(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let quote = "";
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (quote !== "") quote = c === quote ? "" : quote;
    else if (c === '"' || c === "'") quote = c;
    else if (c === "[" || c === "{") depth++;
    else if (c === "]" || c === "}") depth--;
    else if (c === "," && depth === 0) {
      items.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  return [...items, text.slice(start).trim()];
}
