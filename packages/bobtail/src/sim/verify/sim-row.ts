import { mergeResults, type SimResult } from "../result.ts";
import type { WorldOptions } from "../scenario.ts";
import { World } from "../world.ts";

/** One fact that a right simulator must show: computed, compared with what theory or an independent simulation says. */
export interface SimRow {
  /** The row of the acceptance list, and a letter where a row holds several. */
  readonly id: string;
  readonly fact: string;
  readonly source: string;
  readonly expected: number;
  readonly tolerance: Tolerance;
  /** @param scale - share of the full number of requests; 1 is what the tolerance is meant for. */
  compute(scale?: number): number;
  /** How far a quick run, of a small share, may be off: a multiple of the tolerance. Absent: too slow for a quick set. */
  readonly quick?: { readonly scale: number; readonly slack: number } | undefined;
}

/** `ratio`: of the expected value. `absolute`: in its unit. `least`, `most`: a bound; the tolerance is nothing. */
export type Tolerance =
  | { readonly kind: "ratio"; readonly value: number }
  | { readonly kind: "absolute"; readonly value: number }
  | { readonly kind: "least" | "most" };

/** Whether a computed value is what the row says. */
export function rowHolds(row: SimRow, got: number, slack: number = 1): boolean {
  const { expected, tolerance } = row;
  switch (tolerance.kind) {
    case "ratio":
      return Math.abs(got - expected) <= slack * tolerance.value * Math.abs(expected);
    case "absolute":
      return Math.abs(got - expected) <= slack * tolerance.value;
    case "least":
      return got >= expected;
    case "most":
      return got <= expected;
  }
}

const cache = new Map<string, SimResult>();
/** Several rows read the same run one after the other. */
const MAX_CACHED = 4;

/** A run of that share of its requests. Runs of several seeds are shared out and merged. */
export function runWorld(options: WorldOptions, scale: number, seeds: number = 1): SimResult {
  const key = JSON.stringify([options, scale, seeds]);
  const known = cache.get(key);
  if (known !== undefined) return known;
  const requests = Math.max(1000, Math.round((options.requests * scale) / seeds));
  const results = Array.from({ length: seeds }, (_, i) =>
    new World({ ...options, requests, seed: (options.seed ?? 1) + i }, { digest: false }).run(),
  );
  const result = mergeResults(results);
  cache.set(key, result);
  if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value as string);
  return result;
}
