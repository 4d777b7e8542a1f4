import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair } from "yaml";
import { type Complaint, type Problem, problemAt } from "./problem.ts";
import type { SourceText } from "./source-text.ts";

/** A value of the file together with where it and its keys are written. */
export interface Tree {
  /** Plain data: objects without a prototype, arrays, strings, numbers, booleans, null. */
  readonly value: unknown;
  readonly start: number;
  readonly end: number;
  readonly keys: ReadonlyMap<string, readonly [start: number, end: number]>;
  readonly children: ReadonlyMap<PropertyKey, Tree>;
  /** Values in it, with every alias counted as often as it is used. */
  readonly size: number;
}

/** Chains of aliases grow exponentially, so the total of what they stand for is bounded. */
const MAX_VALUES = 200_000;
const MAX_ALIASES = 100;
const MAX_TREE_PROBLEMS = 100;

/**
 * Turns a document into plain data that knows its places. Problems are added to the list.
 * `whole` is false when an alias was refused: what is then missing says nothing about the writer's intent.
 */
export function buildTree(
  source: SourceText,
  document: Document.Parsed,
  problems: Problem[],
): { readonly root: Tree; readonly whole: boolean } {
  const anchors = new Map<string, Tree | "unfinished">();
  const counts = { aliasCount: 0, aliasedSize: 0 };
  const builder: Builder = { source, problems, anchors, ...counts, whole: true };
  const root = buildNode(builder, document.contents, []);
  return { root, whole: builder.whole };
}

/** The innermost value on the path, and whether the path went on past it. */
export function findTree(tree: Tree, path: readonly PropertyKey[]): { tree: Tree; depth: number } {
  let here = tree;
  for (const [depth, part] of path.entries()) {
    const next = here.children.get(typeof part === "number" ? part : String(part));
    if (next === undefined) return { tree: here, depth };
    here = next;
  }
  return { tree: here, depth: path.length };
}

interface Builder {
  readonly source: SourceText;
  readonly problems: Problem[];
  readonly anchors: Map<string, Tree | "unfinished">;
  aliasCount: number;
  /** What all aliases met so far stand for. */
  aliasedSize: number;
  whole: boolean;
}

type Path = readonly PropertyKey[];

function buildNode(builder: Builder, node: Node | null | undefined, path: Path): Tree {
  const [start, end] = node?.range ?? [0, 0];
  if (isAlias(node)) return resolveAlias(builder, node.source, [start, end], path);
  const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
  if (anchor !== undefined) builder.anchors.set(anchor, "unfinished");
  let tree: Tree;
  if (isMap(node))
    tree = buildMap(builder, node.items as Pair<Node, Node | null>[], [start, end], path);
  else if (isSeq(node)) tree = buildList(builder, node.items as Node[], [start, end], path);
  else tree = leaf(isScalar(node) ? node.value : null, start, end);
  if (anchor !== undefined) builder.anchors.set(anchor, tree);
  return tree;
}

function buildMap(
  builder: Builder,
  items: readonly Pair<Node | null, Node | null>[],
  [start, end]: readonly [number, number],
  path: Path,
): Tree {
  const value: Record<string, unknown> = Object.create(null);
  const keys = new Map<string, readonly [number, number]>();
  const children = new Map<PropertyKey, Tree>();
  let size = 1;
  for (const { key: keyNode, value: valueNode } of items) {
    const place = keyNode?.range ?? [start, start + 1];
    const range: readonly [number, number] = [place[0], Math.max(place[0] + 1, place[1])];
    const key = isScalar(keyNode) && keyNode.value !== null ? String(keyNode.value) : undefined;
    if (key === undefined || key === "__proto__") {
      const reason = key === undefined ? "a key must be a plain word" : `unknown key "${key}"`;
      complain(builder, range, { path, reason, remedy: "Write `key: value`." });
      continue;
    }
    if (keys.has(key)) {
      const first = builder.source.placeOf(keys.get(key)?.[0] ?? 0).line;
      const reason = `the key "${key}" is given twice, first on line ${first}`;
      complain(builder, range, { path, reason, remedy: "Remove one of them, or merge the two." });
      continue;
    }
    keys.set(key, range);
    const child =
      valueNode === null ? leaf(null, ...range) : buildNode(builder, valueNode, [...path, key]);
    value[key] = child.value;
    children.set(key, child);
    size += child.size;
  }
  return { value, start, end, keys, children, size };
}

function buildList(
  builder: Builder,
  items: readonly Node[],
  [start, end]: readonly [number, number],
  path: Path,
): Tree {
  const trees = items.map((item, i) => buildNode(builder, item, [...path, i]));
  return {
    value: trees.map((tree) => tree.value),
    start,
    end,
    keys: new Map(),
    children: new Map(trees.entries()),
    size: trees.reduce((sum, tree) => sum + tree.size, 1),
  };
}

function resolveAlias(
  builder: Builder,
  name: string,
  range: readonly [number, number],
  path: Path,
): Tree {
  const target = builder.anchors.get(name);
  builder.aliasCount++;
  let complaint: Complaint | undefined;
  if (target === undefined) {
    const remedy = `Define &${name} before it, or put quotes round a value that begins with \`*\`.`;
    complaint = { path, reason: `no anchor &${name} before this alias`, remedy };
  } else if (target === "unfinished") {
    const remedy = "Write the value out.";
    complaint = { path, reason: `the alias *${name} stands inside its own anchor`, remedy };
  } else if (builder.aliasCount > MAX_ALIASES) {
    complaint = {
      path,
      reason: `more than ${MAX_ALIASES} aliases`,
      remedy: "Write the values out.",
    };
  } else if (builder.aliasedSize + target.size > MAX_VALUES) {
    const reason = `the aliases up to *${name} expand to more than ${MAX_VALUES} values`;
    complaint = { path, reason, remedy: "Write the values out." };
  } else {
    builder.aliasedSize += target.size;
    return target;
  }
  builder.whole = false;
  if (builder.aliasCount <= MAX_ALIASES + 1) complain(builder, range, complaint);
  return leaf(null, ...range);
}

function leaf(value: unknown, start: number, end: number): Tree {
  return { value, start, end, keys: new Map(), children: new Map(), size: 1 };
}

function complain(
  builder: Builder,
  [start, end]: readonly [number, number],
  complaint: Complaint,
): void {
  if (builder.problems.length >= MAX_TREE_PROBLEMS) return;
  builder.problems.push(problemAt(builder.source, start, end, complaint));
}
