import type { Check } from "./checks.ts";

export interface Selection {
  readonly quick: boolean;
  /** Rows of the acceptance list; undefined: all. */
  readonly only?: readonly number[] | undefined;
}

/**
 * Places of the checks to run, in groups that share their runs. Slow ones first, so that
 * no lane begins the longest when the others are done.
 */
export function groupChecks(checks: readonly Check[], selection: Selection): number[][] {
  const { quick, only } = selection;
  const groups = new Map<string, number[]>();
  for (const [i, check] of checks.entries()) {
    if (only !== undefined && !only.includes(check.row)) continue;
    if (quick && check.quickSlack === undefined) continue;
    const key = check.by === "simulator" ? String(check.row) : check.by;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [i]);
    else group.push(i);
  }
  const isSlow = (group: readonly number[]): boolean =>
    group.some((i) => checks[i]?.quickSlack === undefined);
  return [...groups.values()].sort((a, b) => Number(isSlow(b)) - Number(isSlow(a)));
}
