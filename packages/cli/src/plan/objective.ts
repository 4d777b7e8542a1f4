import type { HedgePlan } from "bobtail/plan";

/** Whether the log is long enough to say that the objective is met. */
export function isObjectiveKnown({ proposed, quantile }: HedgePlan): boolean {
  return proposed.predictions.some((p) => p.quantile === quantile && p.isSupported);
}
