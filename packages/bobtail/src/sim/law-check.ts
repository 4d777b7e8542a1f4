import {
  ANY_NUMBER,
  type Check,
  isObject,
  kindOf,
  listOf,
  MS,
  MS_ABOVE_0,
  numberIn,
  objectOf,
  type Problem,
  RATIO,
} from "./checks.ts";

/** Laws within laws: no deeper than this. */
const MAX_DEPTH = 8;

/** A law of durations as plain data. */
export const checkLaw: Check = (value, path, problems) => checkAt(value, path, problems, 0);

function checkAt(value: unknown, path: string, problems: Problem[], depth: number): void {
  if (depth > MAX_DEPTH) {
    problems.push({ path, reason: `is ${depth} laws deep`, remedy: `use at most ${MAX_DEPTH}` });
    return;
  }
  const inner: Check = (v, p, all) => checkAt(v, p, all, depth + 1);
  const before = problems.length;
  kindOf({
    constant: { valueMs: MS },
    exponential: { meanMs: MS_ABOVE_0 },
    uniform: { fromMs: MS, toMs: MS },
    lognormal: { mu: ANY_NUMBER, sigma: numberIn({ min: 0 }) },
    pareto: { shape: numberIn({ min: 0, above: true }), scaleMs: MS_ABOVE_0 },
    empirical: { valuesMs: listOf(MS, 1) },
    mixture: { parts: listOf(objectOf({ share: RATIO, law: inner }, ["share", "law"]), 1) },
    stalls: { law: inner, share: RATIO, stall: inner },
  })(value, path, problems);
  if (problems.length === before && isObject(value)) checkFields(value, path, problems);
}

function checkFields(law: Record<string, unknown>, path: string, problems: Problem[]): void {
  if (law.kind === "uniform" && Number(law.toMs) < Number(law.fromMs))
    problems.push({
      path: `${path}.toMs`,
      reason: `is ${law.toMs}, below fromMs`,
      remedy: `give at least ${law.fromMs}`,
    });
  if (law.kind !== "mixture") return;
  const parts = law.parts as readonly { readonly share: number }[];
  const sum = parts.reduce((total, part) => total + part.share, 0);
  if (Math.abs(sum - 1) > 1e-9)
    problems.push({
      path: `${path}.parts`,
      reason: `have shares that sum to ${sum}`,
      remedy: "make them sum to 1",
    });
}
