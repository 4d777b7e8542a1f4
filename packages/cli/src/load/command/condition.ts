import { InvalidArgumentError } from "commander";
import { readDurationMs, readRatio } from "../../policy-file/units.ts";

/** Which times a percentile is taken of. */
export type ConditionClock = "response" | "ok" | "service" | "lag" | "first-byte" | "gap";

/** What is compared: a percentile in ms, a share in [0, 1] of what was planned, or requests a second. */
type Measure =
  | { readonly kind: "quantile"; readonly clock: ConditionClock; readonly quantile: number }
  | { readonly kind: "errors" }
  | { readonly kind: "sent-ratio" }
  | { readonly kind: "sent-rate" };

export interface Condition {
  /** As it was written. */
  readonly text: string;
  readonly measure: Measure;
  readonly isAbove: boolean;
  /** The bound itself makes it true: it was written with `=`. */
  readonly isInclusive: boolean;
  /** ms, ratio or requests a second, as the measure is. */
  readonly bound: number;
}

const CLOCKS: readonly ConditionClock[] = ["ok", "service", "lag", "first-byte", "gap"];
const EXAMPLES = "'p99>50ms', 'ok.p99.9>80ms', 'errors>1%', 'sent<99%' or 'sent<950/s'";
const OBJECTIVES = "'p99<50ms' or 'errors<1%'";

/**
 * `p99>50ms`, `service.p99.9 >= 1s`, `errors>1%`, `sent<950/s`. A bare percentile is that of all planned
 * requests, failures included; `ok.` of those that ended well.
 */
export function conditionFlag(text: string, examples: string = EXAMPLES): Condition {
  const parts =
    /^\s*([a-z-]+(?=\.p))?\.?(p\d{1,2}(?:\.\d{1,4})?|errors|sent)\s*([<>])(=?)\s*(\S+)\s*$/.exec(
      text,
    );
  const [, clock = "response", name = "", sign, equals, value = ""] = parts ?? [];
  const found = parts === null ? undefined : readMeasure(clock, name, value);
  if (found === undefined)
    throw new InvalidArgumentError(
      `Expected a measure and its bound, as ${examples}.${hintFor(text, name, value)}`,
    );
  const isInclusive = equals === "=";
  return { text: text.replaceAll(/\s+/g, ""), isAbove: sign === ">", isInclusive, ...found };
}

/** What the mistake probably was; empty where nobody knows. */
function hintFor(text: string, name: string, value: string): string {
  if (!/[<>=]/.test(text)) return " Put it in quotes: the shell takes < and > for itself.";
  if (!/^\d+(\.\d+)?$/.test(value)) return "";
  return name.startsWith("p")
    ? ` ${value} of what? Write ${value}ms or ${value}s.`
    : ` Without a % it is a share, from 0 to below 1: write ${value}%.`;
}

/**
 * For `--fail-if`, which may be given several times: what fails a run. One that asks to fail a fast, sound or complete
 * run was meant the other way round.
 */
export function collectConditions(
  text: string,
  before: readonly Condition[] = [],
): readonly Condition[] {
  const condition = conditionFlag(text);
  const isSent = condition.measure.kind === "sent-ratio" || condition.measure.kind === "sent-rate";
  if (condition.isAbove === isSent) {
    const [from, to] = isSent ? [">", "<"] : ["<", ">"];
    throw new InvalidArgumentError(
      `It says when the run fails, and not what must hold. Write '${condition.text.replace(from, to)}'.`,
    );
  }
  return [...before, condition];
}

/** What must hold, for `--find-limit`: a percentile or the errors below a bound. */
export function objectiveFlag(text: string): Condition {
  const condition = conditionFlag(text, OBJECTIVES);
  const { kind } = condition.measure;
  const isOfAnswers = kind === "quantile" || kind === "errors";
  if (condition.isAbove || !isOfAnswers)
    throw new InvalidArgumentError(
      isOfAnswers
        ? `It says what must hold. Write '${condition.text.replace(">", "<")}'.`
        : `Expected what must hold, as ${OBJECTIVES}.`,
    );
  if (condition.bound === 0 && !condition.isInclusive)
    throw new InvalidArgumentError(
      "Nothing is below 0. Expected a bound above it, or 'errors<=0%'.",
    );
  return condition;
}

function readMeasure(
  clock: string,
  name: string,
  value: string,
): { readonly measure: Measure; readonly bound: number } | undefined {
  if (name === "errors" || name === "sent") {
    if (clock !== "response") return undefined;
    const perSec = /^(\d+(?:\.\d+)?)\/s$/.exec(value);
    if (name === "sent" && perSec !== null)
      return { measure: { kind: "sent-rate" }, bound: Number(perSec[1]) };
    const isBare = /^\d/.test(value) && !value.endsWith("%");
    // The 1 of `errors>1` would be the whole, which nothing is above: a gate that never closes.
    if (isBare && Number(value) >= 1) return undefined;
    const ratio = readRatio(isBare ? Number(value) : value);
    if (!ratio.ok || !(ratio.value >= 0 && ratio.value <= 1)) return undefined;
    return { measure: { kind: name === "sent" ? "sent-ratio" : "errors" }, bound: ratio.value };
  }
  const known = clock === "response" ? clock : CLOCKS.find((one) => one === clock);
  const quantile = Number((Number(name.slice(1)) / 100).toPrecision(12));
  const bound = readDurationMs(value);
  if (known === undefined || !bound.ok || !(quantile > 0 && quantile < 1)) return undefined;
  return { measure: { kind: "quantile", clock: known, quantile }, bound: bound.value };
}
