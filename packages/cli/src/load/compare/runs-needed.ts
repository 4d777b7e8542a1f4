import { normalQuantile } from "bobtail/plan";
import { fewestRuns } from "./rank-sum.ts";

/** Finds a difference of that size nine times in ten; where there is none, the interval rules it out four times in five. */
const POWER = 0.9;
/** Runs a rank test takes for what the t test does with one, when the values are normal: pi / 3. */
const RANK_COST = Math.PI / 3;

export interface RunsNeeded {
  /** Standard deviation between runs of one side, on the scale of `change`; >= 0. */
  readonly spread: number;
  /** What is to be told from none, on the scale on which shifts add; above 0. */
  readonly change: number;
  readonly familySize: number;
  readonly level: number;
}

/**
 * About how many runs a side find a shift of `change`, or rule it out. Of values that are far from normal it is a guide and no more.
 *
 * Source: the two-sample size of Lehmann, "Nonparametrics: Statistical Methods Based on Ranks", 1975, 2.4, at the level of
 * the first step of Holm's procedure.
 */
export function runsNeeded({ spread, change, familySize, level }: RunsNeeded): number {
  const standardErrors = normalQuantile(1 - level / (2 * familySize)) + normalQuantile(POWER);
  const size = 2 * RANK_COST * ((standardErrors * spread) / change) ** 2;
  return Math.max(fewestRuns(familySize, level), Math.ceil(size));
}

/** The shift that `runs` a side find or rule out; the other way round. */
export function changeFound(
  runs: number,
  { spread, familySize, level }: Omit<RunsNeeded, "change">,
): number {
  const standardErrors = normalQuantile(1 - level / (2 * familySize)) + normalQuantile(POWER);
  return standardErrors * spread * Math.sqrt((2 * RANK_COST) / runs);
}

/** Standard deviation within the sides, pooled; undefined where a value is infinite or there is nothing to take it from. */
export function pooledSpread(sides: readonly (readonly number[])[]): number | undefined {
  let squares = 0;
  let freedom = 0;
  for (const values of sides) {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    for (const value of values) squares += (value - mean) ** 2;
    freedom += values.length - 1;
  }
  const spread = Math.sqrt(squares / freedom);
  return Number.isFinite(spread) ? spread : undefined;
}
