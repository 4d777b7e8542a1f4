import type { z } from "zod";
import { nearest } from "./nearest.ts";
import { type Problem, problemAt } from "./problem.ts";
import type { SourceText } from "./source-text.ts";
import { findTree, type Tree } from "./tree.ts";
import { show } from "./units.ts";

type Issue = z.core.$ZodIssue;

/** Sections of the policy file that a later version will read. Refused by name, so that nobody believes them active. */
const PLANNED: ReadonlySet<string> = new Set([
  "health",
  "outlier",
  "probation",
  "discover",
  "subset",
  "tie",
  "scatter",
]);

/** Of one mapping, so many unknown keys are told. */
const MAX_KEYS = 50;

/** The message of an unknown key is the list of the known ones; {@link explainIssue} needs it. */
export function knownKeys(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "unrecognized_keys") return undefined;
  const definition = issue.inst?._zod.def;
  return definition !== undefined && "shape" in definition
    ? Object.keys(definition.shape as object).join(" ")
    : "";
}

/** Turns what the schema found into problems with places. */
export function explainIssue(
  source: SourceText,
  root: Tree,
  issue: Issue,
  prefix: readonly PropertyKey[] = [],
): Problem[] {
  const path = [...prefix, ...issue.path];
  const { tree, depth } = findTree(root, path);
  const at = (reason: string, remedy: string): Problem[] => [
    problemAt(source, tree.start, tree.end, { path, reason, remedy }),
  ];

  if (issue.code === "unrecognized_keys") {
    const known = issue.message.split(" ");
    return issue.keys.slice(0, MAX_KEYS).map((key) => {
      const [start, end] = tree.keys.get(key) ?? [tree.start, tree.end];
      return problemAt(source, start, end, { path, ...unknownKey(tree, key, known) });
    });
  }
  if (depth < path.length) {
    const key = String(path[depth]);
    // A misspelt key is reported as unknown already; that it is missing follows.
    const misspelt = [...tree.keys.keys()].some((name) => nearest(name, [key]) === key);
    return misspelt ? [] : [missing(source, root, path, depth)];
  }
  switch (issue.code) {
    case "invalid_union": {
      const branch = likeliest(issue.errors, tree.value);
      return branch.flatMap((inner) => explainIssue(source, root, inner, path));
    }
    case "invalid_type":
      return at(
        `expected ${kindName(issue.expected)}, received ${show(tree.value)}`,
        issue.expected === "array"
          ? "Write [a, b], or one `- item` a line."
          : "Write `key: value`.",
      );
    case "custom": {
      const remedy: unknown = issue.params?.remedy;
      return at(issue.message, typeof remedy === "string" ? remedy : "");
    }
    case "too_small":
      return at("expected at least one item", "Add one, or remove the key.");
    case "too_big":
      return at(`more than ${issue.maximum} items`, `Keep at most ${issue.maximum}.`);
    default:
      return at(issue.message, "See `bobtail schema`.");
  }
}

function unknownKey(
  tree: Tree,
  key: string,
  known: readonly string[],
): { reason: string; remedy: string } {
  if (PLANNED.has(key)) {
    return { reason: `\`${key}\` is not supported yet in this version`, remedy: "Remove it." };
  }
  const near = nearest(key, known);
  const free = known.filter((name) => !tree.keys.has(name));
  const remedy =
    key === "<<"
      ? "Merge keys are not part of YAML 1.2; use an alias for a whole value."
      : near !== undefined
        ? `Did you mean "${near}"?`
        : free.length > 0
          ? `Known here: ${free.join(", ")}.`
          : "Remove it.";
  return { reason: `unknown key ${show(key)}`, remedy };
}

/** A key that must be there: the place is the key that should hold it. */
function missing(
  source: SourceText,
  root: Tree,
  path: readonly PropertyKey[],
  depth: number,
): Problem {
  const holder = findTree(root, path.slice(0, depth)).tree;
  const owner = depth > 0 ? findTree(root, path.slice(0, depth - 1)).tree : undefined;
  const range = owner?.keys.get(String(path[depth - 1])) ?? [holder.start, holder.end];
  const key = String(path[depth]);
  return problemAt(source, range[0], range[1], {
    path: path.slice(0, depth),
    reason: `the key "${key}" is missing`,
    remedy: `Add \`${key}: ...\`.`,
  });
}

/** The branch of a union that the writer had in mind: the one whose kind of value is there. */
function likeliest(branches: readonly (readonly Issue[])[], value: unknown): readonly Issue[] {
  const structured = typeof value === "object" && value !== null;
  const fits = (issues: readonly Issue[]): boolean => {
    const atRoot = issues.filter((issue) => issue.path.length === 0);
    return structured
      ? !atRoot.some((issue) => issue.code === "invalid_type" || issue.code === "custom")
      : atRoot.some((issue) => issue.code === "custom");
  };
  return branches.find(fits) ?? branches[0] ?? [];
}

function kindName(expected: string): string {
  if (expected === "array") return "a list";
  return expected === "object" || expected === "record" ? "a mapping" : `a ${expected}`;
}
