import { checkOption, seededRng } from "bobtail/engine";

/** Requests for one path, whose answers are large and take longer. */
interface LargeRequests {
  /** Starts with `/`; compared without the query. */
  readonly path: string;
  /** Of the body; a whole number in [1, 16,777,216]. */
  readonly bodyBytes: number;
  /** Times the service time; above 0. */
  readonly factor: number;
}

/** Keys that take longer wherever they are asked for: a fault of the request, not of a backend. */
interface SlowKeys {
  /** Share of all possible keys; in [0, 1]. Which they are is fixed: see `isSlowKey`. */
  readonly shareRatio: number;
  /** Times the service time; above 0. */
  readonly factor: number;
}

/** What a request asks of whichever backend it comes to. */
export interface RequestShapes {
  readonly large?: LargeRequests | undefined;
  readonly slowKeys?: SlowKeys | undefined;
}

/** Throws `ERR_BOBTAIL_OPTION` for the first number out of range. */
export function checkRequestShapes({ large, slowKeys }: RequestShapes): void {
  if (large !== undefined) {
    const { path, bodyBytes, factor } = large;
    checkOption({ "large.path": path }, "a path that starts with /", path.startsWith("/"));
    checkOption(
      { "large.bodyBytes": bodyBytes },
      "a whole number in [1, 16777216]",
      Number.isInteger(bodyBytes) && bodyBytes >= 1 && bodyBytes <= 16_777_216,
    );
    checkFactor("large.factor", factor);
  }
  if (slowKeys === undefined) return;
  const { shareRatio, factor } = slowKeys;
  checkOption(
    { "slowKeys.shareRatio": shareRatio },
    "a ratio in [0, 1]",
    shareRatio >= 0 && shareRatio <= 1,
  );
  checkFactor("slowKeys.factor", factor);
}

function checkFactor(name: string, factor: number): void {
  checkOption({ [name]: factor }, "a number above 0", factor > 0 && Number.isFinite(factor));
}

export function isLarge({ large }: RequestShapes, target: string): boolean {
  if (large === undefined || !target.startsWith(large.path)) return false;
  return target.length === large.path.length || target[large.path.length] === "?";
}

/** How many times longer than others a request with that target (path and query) is served. */
export function shapeFactor(shapes: RequestShapes, target: string): number {
  const { large, slowKeys } = shapes;
  let factor = large !== undefined && isLarge(shapes, target) ? large.factor : 1;
  if (slowKeys !== undefined && isSlowKey(keyOf(target), slowKeys.shareRatio))
    factor *= slowKeys.factor;
  return factor;
}

/** By a hash of the key, the same in every process: a key that is slow at one share is slow at every larger one. */
export function isSlowKey(key: string, shareRatio: number): boolean {
  return seededRng(0).split(key).next() < shareRatio;
}

/** The value of the query parameter `key`, else the whole target. */
export function keyOf(target: string): string {
  const queryAt = target.indexOf("?");
  if (queryAt < 0) return target;
  return new URLSearchParams(target.slice(queryAt)).get("key") ?? target;
}
