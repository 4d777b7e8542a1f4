/** One mistake in plain data that came from outside: where, why, and how to mend it. */
export interface Problem {
  /** As in `servers[0].workers`; empty for the whole. */
  readonly path: string;
  readonly reason: string;
  readonly remedy: string;
}

/** Looks at one value and adds what is wrong with it. */
export type Check = (value: unknown, path: string, problems: Problem[]) => void;

export interface NumberRange {
  readonly min?: number;
  readonly max?: number;
  /** Greater than `min`, not equal to it. */
  readonly above?: boolean;
  readonly whole?: boolean;
}

export function numberIn(range: NumberRange): Check {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = range;
  const { above = false, whole = false } = range;
  const kind = whole ? "a whole number" : "a number";
  const low =
    min === Number.NEGATIVE_INFINITY ? "" : above ? ` above ${min}` : ` of at least ${min}`;
  const high = max === Number.POSITIVE_INFINITY ? "" : `${low === "" ? "" : " and"} at most ${max}`;
  return (value, path, problems) => {
    const ok =
      typeof value === "number" &&
      Number.isFinite(value) &&
      (above ? value > min : value >= min) &&
      value <= max &&
      (!whole || Number.isInteger(value));
    if (!ok)
      problems.push({ path, reason: `is ${show(value)}`, remedy: `give ${kind}${low}${high}` });
  };
}

export const RATIO: Check = numberIn({ min: 0, max: 1 });
export const MS: Check = numberIn({ min: 0 });
export const MS_ABOVE_0: Check = numberIn({ min: 0, above: true });
export const RATE: Check = numberIn({ min: 0 });
export const ANY_NUMBER: Check = numberIn({});

export function count(min: number, max?: number): Check {
  return numberIn(max === undefined ? { min, whole: true } : { min, max, whole: true });
}

export const BOOLEAN: Check = (value, path, problems) => {
  if (typeof value !== "boolean")
    problems.push({ path, reason: `is ${show(value)}`, remedy: "give true or false" });
};

export const TEXT: Check = (value, path, problems) => {
  if (typeof value !== "string" || value === "")
    problems.push({ path, reason: `is ${show(value)}`, remedy: "give a text" });
};

export function oneOf(words: readonly unknown[]): Check {
  return (value, path, problems) => {
    if (!words.includes(value))
      problems.push({
        path,
        reason: `is ${show(value)}`,
        remedy: `give one of ${words.join(", ")}`,
      });
  };
}

/** A number, a word or a truth value: another part looks at which. */
export const PLAIN: Check = (value, path, problems) => {
  if (typeof value === "object")
    problems.push({ path, reason: `is ${show(value)}`, remedy: "give a number or a word" });
};

/** Either passes. */
export function either(first: Check, second: Check): Check {
  return (value, path, problems) => {
    const firsts: Problem[] = [];
    first(value, path, firsts);
    if (firsts.length === 0) return;
    const seconds: Problem[] = [];
    second(value, path, seconds);
    if (seconds.length === 0) return;
    const remedy = `${firsts[0]?.remedy ?? ""}, or ${seconds[0]?.remedy ?? ""}`;
    problems.push({ path, reason: firsts[0]?.reason ?? "is not valid", remedy });
  };
}

export function listOf(item: Check, min: number = 0): Check {
  return (value, path, problems) => {
    if (!Array.isArray(value)) {
      problems.push({ path, reason: `is ${show(value)}`, remedy: "give a list" });
      return;
    }
    if (value.length < min)
      problems.push({
        path,
        reason: `has ${value.length} entries`,
        remedy: `give at least ${min}`,
      });
    // A wrong trace of a million lines is one mistake made a million times.
    for (let i = 0; i < value.length && problems.length < MAX_PROBLEMS; i++)
      item(value[i], `${path}[${i}]`, problems);
  };
}

/** Names of the user's own, each with a value of that kind. */
export function recordOf(item: Check): Check {
  return (value, path, problems) => {
    if (!isObject(value)) {
      problems.push({ path, reason: `is ${show(value)}`, remedy: "give names with values" });
      return;
    }
    for (const [key, entry] of Object.entries(value)) item(entry, join(path, key), problems);
  };
}

/** @param required - the fields that must be there. */
export function objectOf(
  fields: Readonly<Record<string, Check>>,
  required: readonly string[] = [],
): Check {
  return (value, path, problems) => {
    if (!isObject(value)) {
      problems.push({
        path,
        reason: `is ${show(value)}`,
        remedy: `give an object with ${Object.keys(fields).join(", ")}`,
      });
      return;
    }
    for (const [key, entry] of Object.entries(value)) {
      const check = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (check === undefined) problems.push(unknownKey(key, path, Object.keys(fields)));
      else if (entry !== undefined) check(entry, join(path, key), problems);
    }
    for (const key of required) {
      if (value[key] === undefined)
        problems.push({ path: join(path, key), reason: "is missing", remedy: `add ${key}` });
    }
  };
}

/** Objects told apart by their `kind`, each with all of its fields required but those named optional. */
export function kindOf(
  kinds: Readonly<Record<string, Readonly<Record<string, Check>>>>,
  optional: readonly string[] = [],
): Check {
  const names = Object.keys(kinds);
  return (value, path, problems) => {
    const kind = isObject(value) ? value.kind : undefined;
    if (typeof kind !== "string" || !Object.hasOwn(kinds, kind)) {
      const reason = isObject(value) ? `is ${show(kind)}` : "is missing";
      problems.push({
        path: join(path, "kind"),
        reason,
        remedy: `give one of ${names.join(", ")}`,
      });
      return;
    }
    const fields = kinds[kind] ?? {};
    const required = Object.keys(fields).filter((field) => !optional.includes(field));
    objectOf({ kind: TEXT, ...fields }, required)(value, path, problems);
  };
}

/** More than this are not looked for. */
const MAX_PROBLEMS = 50;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "number") return String(value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function unknownKey(key: string, path: string, known: readonly string[]): Problem {
  const near = known.find((name) => isNear(name, key));
  const remedy = near === undefined ? `use one of ${known.join(", ")}` : `did you mean ${near}?`;
  return { path: join(path, key), reason: "is not known here", remedy };
}

/** One letter too many, too few, wrong or swapped, whatever the case; or the beginning of the name. */
function isNear(name: string, key: string): boolean {
  const [a, b] = [name.toLowerCase(), key.toLowerCase()];
  if (a === b || (b.length >= 3 && a.startsWith(b))) return true;
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end))
    end++;
  const [restA, restB] = [a.length - start - end, b.length - start - end];
  return Math.max(restA, restB) <= 1 || (restA === 2 && restB === 2 && a[start] === b[start + 1]);
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
