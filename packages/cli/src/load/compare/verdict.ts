import type { Shift } from "./hodges-lehmann.ts";
import type { Quantity } from "./quantity.ts";

/** What can be said of a quantity. */
export type Verdict =
  | { readonly kind: "worse" }
  | { readonly kind: "better" }
  /** `largest`: the end of the interval that is farther from none, on the quantity's scale. */
  | { readonly kind: "no-difference"; readonly largest: number }
  /** Undefined: not known, since runs are infinite. */
  | {
      readonly kind: "cannot-tell";
      /** More runs a side, about, that would find a change as large as the threshold. */
      readonly moreRuns: number | undefined;
      /** The same for a change as large as this one looks; undefined where it looks no larger than the threshold. */
      readonly moreRunsIfAsSeen: number | undefined;
    };

export interface Evidence {
  readonly shift: Shift;
  readonly threshold: number;
  /** Chance alone would hardly have made it. */
  readonly isCalled: boolean;
  readonly worse: Quantity["worse"];
  /** Of the smaller side. */
  readonly runs: number;
  /** Runs a side that find a change of that size; undefined where that is not known. */
  neededFor(change: number): number | undefined;
}

export function verdictOf({
  shift,
  threshold,
  isCalled,
  worse,
  runs,
  neededFor,
}: Evidence): Verdict {
  const { estimate, low, high } = shift;
  const looksLarge = estimate !== undefined && Math.abs(estimate) > threshold;
  if (isCalled && looksLarge) return { kind: estimate > 0 === worse > 0 ? "worse" : "better" };
  if (low >= -threshold && high <= threshold)
    return { kind: "no-difference", largest: Math.max(-low, high, 0) };
  const more = (change: number): number | undefined => {
    const needed = neededFor(change);
    return needed === undefined ? undefined : Math.max(1, needed - runs);
  };
  return {
    kind: "cannot-tell",
    moreRuns: more(threshold),
    moreRunsIfAsSeen: looksLarge && Number.isFinite(estimate) ? more(estimate) : undefined,
  };
}
