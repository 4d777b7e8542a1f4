import { checkOption } from "../core/errors.ts";
import { checkFanOut } from "./fan-out.ts";

export interface BurstNeeds {
  /** Hedges per call that are due; in (0, 1]. */
  readonly dueRatio: number;
  /** Tokens that each call earns; in (0, 2]. */
  readonly budgetRatio: number;
  /** Calls of a request that come at once; a whole number >= 1, default 1. */
  readonly fanOut?: number | undefined;
  /** Share of the requests, at most, that may miss a hedge they are due; in (0, 1), default 0.001. */
  readonly missRatio?: number | undefined;
}

/** A hedge leaves this share of the bucket to retries. */
const KEPT_RATIO = 0.25;
/** A bucket that may be emptied at once must not be a second load: more is not advised. */
const MAX_BURST = 1_000;

/**
 * The capacity of a token bucket that refuses hedges seldom, although slow calls come by chance; in [10, 1000].
 *
 * The balance is a random walk between empty and full: its drift is what the budget leaves over, its variance that
 * of the slow calls. Where more is due than earned the bucket must refuse the difference, and little beside it.
 * Source: the loss of a reflected Brownian motion, in Harrison, "Brownian Motion and Stochastic Flow Systems", 1985.
 */
export function budgetBurst(needs: BurstNeeds): number {
  const { dueRatio, budgetRatio, fanOut = 1, missRatio = 0.001 } = needs;
  checkOption({ dueRatio }, "a ratio in (0, 1]", dueRatio > 0 && dueRatio <= 1);
  checkOption({ budgetRatio }, "a ratio in (0, 2]", budgetRatio > 0 && budgetRatio <= 2);
  checkOption({ missRatio }, "in (0, 1)", missRatio > 0 && missRatio < 1);
  checkFanOut(fanOut);
  const drift = budgetRatio - dueRatio;
  const variance = dueRatio * (1 - dueRatio);
  // Share of the hedges that may be refused, so that few requests lose one.
  const refused = Math.min(1, missRatio / (fanOut * dueRatio));
  const walk = spread({ drift, variance, dueRatio, refused });
  // The leaves of one request draw before their answers earn.
  const atOnce = fanOut * dueRatio + 4 * Math.sqrt(fanOut * dueRatio);
  return Math.min(MAX_BURST, Math.max(10, Math.ceil((walk + atOnce) / (1 - KEPT_RATIO))));
}

/** Tokens between empty and full that keep the walk from the lower end. */
function spread(walk: {
  readonly drift: number;
  readonly variance: number;
  readonly dueRatio: number;
  readonly refused: number;
}): number {
  const { drift, variance, dueRatio, refused } = walk;
  if (Math.abs(drift) < 1e-9 * dueRatio) return variance / (2 * dueRatio * refused);
  // More is due than earned: the bucket is the coin, and is to refuse but a twentieth more than the coin would.
  if (drift < 0) return (Math.log(20) * variance) / (-2 * drift);
  return (Math.log1p(drift / (dueRatio * refused)) * variance) / (2 * drift);
}
