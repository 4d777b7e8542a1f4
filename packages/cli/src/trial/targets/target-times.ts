import type { TargetPlace } from "./target.ts";

/** Of a trial's healthy backends, unless it is told otherwise. */
const MEAN_MS = 20;

/** Times that an operator would choose by what the service needs; all are in proportion to its mean. */
export interface TargetTimes {
  /** Three means: the 95th percentile of exponential service times. */
  readonly hedgeDelayMs: number;
  /** 25 means: slower answers count against a backend. */
  readonly slowAnswerMs: number;
  /** 50 means: a try is given up. */
  readonly tryTimeoutMs: number;
}

export function targetTimes({ meanMs = MEAN_MS }: Pick<TargetPlace, "meanMs">): TargetTimes {
  return {
    hedgeDelayMs: Math.round(meanMs * 3),
    slowAnswerMs: Math.round(meanMs * 25),
    tryTimeoutMs: Math.round(meanMs * 50),
  };
}
