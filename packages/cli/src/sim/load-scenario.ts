import { checkScenario, type Scenario } from "bobtail/sim";
import { type Problem, problemAt } from "../policy-file/problem.ts";
import { decodeSource, readSource, type SourceReading } from "../policy-file/read-source.ts";
import { parseSyntax } from "../policy-file/syntax.ts";
import { buildTree, type Tree } from "../policy-file/tree.ts";
import { sizeProblems } from "./world-size.ts";

/** What a scenario file says, or everything that is wrong with it. */
export type ScenarioReading =
  | { readonly ok: true; readonly scenario: Scenario }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Reads and validates a scenario file (`-`: standard input), YAML or JSON. Every mistake is a problem; nothing is thrown. */
export function loadScenario(file: string): ScenarioReading {
  return finish(readSource(file));
}

/** The same for a text that is already here. */
export function parseScenario(text: string, file: string = "scenario.yaml"): ScenarioReading {
  return finish(decodeSource(file, new TextEncoder().encode(text)));
}

function finish(reading: SourceReading): ScenarioReading {
  if (!reading.ok) return refuse(reading.problems);
  const { source } = reading;
  const syntax = parseSyntax(source);
  if (!syntax.ok) return refuse(syntax.problems);
  const problems: Problem[] = [];
  const { root, whole } = buildTree(source, syntax.document, problems);
  if (!whole) return refuse(problems);
  // Its objects have no prototype, which arithmetic on a value of the wrong kind would stumble over.
  const checked = checkScenario(structuredClone(root.value));
  const found = checked.ok ? sizeProblems(checked.scenario) : checked.problems;
  for (const { path, reason, remedy } of found) {
    const [start, end] = rangeOf(root, path, reason.includes("not known"));
    problems.push(
      problemAt(source, start, end, {
        reason: `${path === "" ? "the file" : path} ${reason}`,
        remedy: sentence(remedy),
      }),
    );
  }
  if (problems.length > 0 || !checked.ok) return refuse(inOrder(problems));
  return { ok: true, scenario: checked.scenario };
}

/** The value that the path names; the key, where it is unknown; what should hold it, where it is missing. */
function rangeOf(root: Tree, path: string, isKey: boolean): readonly [start: number, end: number] {
  let tree = root;
  let rest = path;
  let keyRange: readonly [number, number] | undefined;
  while (rest !== "") {
    const step = stepInto(tree, rest);
    if (step === undefined) return keyRange ?? [tree.start, Math.min(tree.end, tree.start + 1)];
    const key = tree.keys.get(String(step.key));
    const child = tree.children.get(step.key);
    if (child === undefined) break;
    keyRange = key ?? [child.start, child.end];
    tree = child;
    rest = step.rest;
  }
  const isLeaf = !isKey && tree.children.size === 0 && tree.end > tree.start;
  return isLeaf ? [tree.start, tree.end] : (keyRange ?? [tree.start, tree.start + 1]);
}

/** Names of the user's own may hold dots and brackets, so the longest key that fits is taken. */
function stepInto(
  tree: Tree,
  rest: string,
): { readonly key: PropertyKey; readonly rest: string } | undefined {
  const index = /^\[(\d+)\]/.exec(rest);
  if (index !== null && tree.keys.size === 0) {
    const key = Number(index[1]);
    return tree.children.has(key) ? { key, rest: rest.slice(index[0].length) } : undefined;
  }
  const text = rest.startsWith(".") ? rest.slice(1) : rest;
  let best: string | undefined;
  for (const key of tree.keys.keys()) {
    const isWhole = text.length === key.length || /^[.[]/.test(text.slice(key.length));
    if (text.startsWith(key) && isWhole && key.length > (best?.length ?? -1)) best = key;
  }
  return best === undefined ? undefined : { key: best, rest: text.slice(best.length) };
}

function refuse(problems: readonly Problem[]): { ok: false; problems: readonly Problem[] } {
  return {
    ok: false,
    problems: problems.map((problem) => ({ ...problem, remedy: forScenarios(problem.remedy) })),
  };
}

/** The reader of policy files gives advice about policy files. */
function forScenarios(remedy: string): string {
  return remedy
    .replace(/Write a starter file with .*$|or write a starter file with .*$/, (found) =>
      found.startsWith("W")
        ? "`bobtail sim --help` shows how one begins."
        : "or see `bobtail sim list` for the built-in ones.",
    )
    .replace("a policy file", "a scenario file")
    .replace("A policy needs", "A scenario needs");
}

function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(first) ? first : `${first}.`;
}
