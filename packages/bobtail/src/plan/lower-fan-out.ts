import { checkOption } from "../core/errors.ts";
import { enoughOfLaw, leafTail, maxFanOut } from "./fan-out.ts";
import type { LatencyLaw } from "./latency-law.ts";

/** Where no hedge meets an objective: what else does, each with the figure that it takes. */
export interface FanOutAdvice {
  /** Leaves that one request may wait for; 0 where even one is too slow. */
  readonly maxFanOut: number;
  /** How many times larger the partitions (or fewer the services asked) must become; Infinity for a maxFanOut of 0. */
  readonly partitionFactor: number;
  /** Leaves whose answers are enough, the others left out and the result marked as partial; undefined: no number is. */
  readonly enough: number | undefined;
  /** Share of the leaf calls that a cache must answer in time. */
  readonly cachedRatio: number;
  /** Slow calls of a leaf that the objective allows, and that there are. */
  readonly allowedSlowRatio: number;
  readonly slowRatio: number;
}

export interface Objective {
  /** Leaves; a whole number >= 1. */
  readonly fanOut: number;
  /** Share of the requests that meets it; in (0, 1). */
  readonly quantile: number;
  /** ms > 0. */
  readonly withinMs: number;
}

/** `undefined` when the leaves meet the objective as they are (hedged or not: as the law says). */
export function adviseFanOut(leaf: LatencyLaw, objective: Objective): FanOutAdvice | undefined {
  const { fanOut, quantile, withinMs } = objective;
  checkOption({ withinMs }, "a number > 0", withinMs > 0);
  checkOption({ quantile }, "a quantile in (0, 1)", quantile > 0 && quantile < 1);
  const slowRatio = leaf.survival(withinMs);
  const allowedSlowRatio = leafTail(1 - quantile, fanOut);
  if (slowRatio <= allowedSlowRatio * (1 + 1e-12)) return undefined;
  const most = maxFanOut(slowRatio, quantile);
  return {
    maxFanOut: most,
    partitionFactor: most === 0 ? Number.POSITIVE_INFINITY : fanOut / most,
    enough: largestEnough(leaf, objective),
    cachedRatio: 1 - allowedSlowRatio / slowRatio,
    allowedSlowRatio,
    slowRatio,
  };
}

function largestEnough(leaf: LatencyLaw, objective: Objective): number | undefined {
  const { fanOut, quantile, withinMs } = objective;
  let enough = 0;
  let tooMany = fanOut + 1;
  while (tooMany - enough > 1) {
    const middle = Math.floor((enough + tooMany) / 2);
    const late = enoughOfLaw(leaf, { fanOut, enough: middle }).survival(withinMs);
    if (late <= 1 - quantile) enough = middle;
    else tooMany = middle;
  }
  return enough === 0 ? undefined : enough;
}
