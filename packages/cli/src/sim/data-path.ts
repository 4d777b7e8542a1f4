import { nearest } from "../policy-file/nearest.ts";

/** One step into plain data: a key, a place in a list, or all of either. */
export type PathStep = string | number | typeof EVERY;
export const EVERY: unique symbol = Symbol("every");

/** Why a path leads nowhere, or means nothing. */
export interface PathFault {
  readonly reason: string;
  readonly remedy: string;
}

const MAX_STEPS = 32;

/** `servers[0].slowdown`, `servers.0.slowdown`, `servers[*].workers`, `policies["a.b"].deadlineMs`. */
export function parsePath(text: string): readonly PathStep[] | PathFault {
  const step = /(?:^|\.)([^.[\]"]+)|\[(\d+|\*)\]|(?:^|\.)?\["([^"]*)"\]/gy;
  const steps: PathStep[] = [];
  while (step.lastIndex < text.length) {
    const match = step.exec(text);
    if (match === null || steps.length === MAX_STEPS)
      return {
        reason: `${JSON.stringify(text)} is not a path`,
        remedy: "Write it as servers[0].slowdown, servers[*].workers or policy.hedge.afterMs.",
      };
    const [, word, index, quoted] = match;
    steps.push(quoted ?? stepOf(word ?? index ?? ""));
  }
  return steps.length > 0 ? steps : { reason: "the path is empty", remedy: "Name a field." };
}

function stepOf(word: string): PathStep {
  const name = word.trim();
  if (name === "*") return EVERY;
  return /^\d+$/.test(name) ? Number(name) : name;
}

export function isFault(found: unknown): found is PathFault {
  return typeof found === "object" && found !== null && "remedy" in found;
}

/** As it is written: `servers[0].slowdown`. */
export function showPath(steps: readonly PathStep[]): string {
  let text = "";
  for (const step of steps) {
    if (step === EVERY) text += "[*]";
    else if (typeof step === "number") text += `[${step}]`;
    else text += `${text === "" ? "" : "."}${step}`;
  }
  return text;
}

/**
 * A copy of the data with that value at that path; what is not on the path is shared. `undefined` removes the field.
 * Mappings on the way are made where they are missing, except among names of the user's own.
 */
export function withValue(
  data: unknown,
  steps: readonly PathStep[],
  value: unknown,
): { readonly data: unknown } | PathFault {
  return place({ data, steps, at: 0, value });
}

interface Place {
  readonly data: unknown;
  readonly steps: readonly PathStep[];
  readonly at: number;
  readonly value: unknown;
}

function place(here: Place): { readonly data: unknown } | PathFault {
  const { data, steps, at, value } = here;
  if (at === steps.length) return { data: value };
  if (Array.isArray(data)) return placeInList(here, data);
  const before = showPath(steps.slice(0, at));
  if (typeof data === "object" && data !== null)
    return placeInMapping(here, data as Readonly<Record<string, unknown>>);
  if (data !== undefined && data !== null)
    return {
      reason: `${before} is ${JSON.stringify(data)}, which has no fields`,
      remedy: `Give ${before} itself another value.`,
    };
  return typeof steps[at] === "string"
    ? placeInMapping(here, {})
    : { reason: `${before} is not there`, remedy: `Give ${before} a value as a whole.` };
}

function placeInList(
  here: Place,
  list: readonly unknown[],
): { readonly data: unknown } | PathFault {
  const { steps, at } = here;
  const step = steps[at];
  const name = showPath(steps.slice(0, at));
  if (step !== EVERY && (typeof step !== "number" || step >= list.length)) {
    const places = list.length === 1 ? "[0]" : `[0] to [${list.length - 1}]`;
    return {
      reason: `${name} has no entry ${showPath([step ?? ""])}`,
      remedy: list.length === 0 ? `${name} is empty.` : `It has ${places}; [*] is all of them.`,
    };
  }
  const copy = [...list];
  for (const i of step === EVERY ? list.keys() : [step as number]) {
    const placed = place({ ...here, data: list[i], at: at + 1 });
    if (isFault(placed)) return placed;
    copy[i] = placed.data;
  }
  return { data: copy };
}

function placeInMapping(
  here: Place,
  mapping: Readonly<Record<string, unknown>>,
): { readonly data: unknown } | PathFault {
  const { steps, at } = here;
  const step = steps[at];
  const keys = step === EVERY ? Object.keys(mapping) : [String(step as string | number)];
  const copy: Record<string, unknown> = { ...mapping };
  for (const key of keys) {
    if (key === "__proto__") return { reason: `unknown key "${key}"`, remedy: "Remove it." };
    const isOwnName = at === 1 && steps[0] === "policies";
    if (isOwnName && !Object.hasOwn(mapping, key)) return noPolicy(key, Object.keys(mapping));
    const before = Object.hasOwn(mapping, key) ? mapping[key] : undefined;
    const placed = place({ ...here, data: before, at: at + 1 });
    if (isFault(placed)) return placed;
    if (placed.data === undefined) delete copy[key];
    else copy[key] = placed.data;
  }
  return { data: copy };
}

function noPolicy(name: string, names: readonly string[]): PathFault {
  const near = nearest(name, names);
  return {
    reason: `there is no policy ${JSON.stringify(name)}`,
    remedy: near === undefined ? `There are ${names.join(", ")}.` : `Did you mean "${near}"?`,
  };
}
