import { checkOption } from "../core/errors.ts";
import { type LatencyLaw, latencyAtTail } from "./latency-law.ts";

/** A percentile that stands where the law is flat: a few more or fewer slow ones move it a long way. */
export interface Cliff {
  /** Where the percentile would be with 30 % more slow ones, ms. */
  readonly aboveMs: number;
  /** Where it would be with 30 % fewer, ms. */
  readonly belowMs: number;
}

const SHIFT = 0.3;
/** A power law of index 1, the longest tail that still has a name, moves by 1.9. */
const MIN_JUMP = 2;

/** The cliff at that tail, or `undefined` where a percentile is a stable figure. */
export function cliffAt(law: LatencyLaw, tailRatio: number): Cliff | undefined {
  checkOption({ tailRatio }, "a ratio in (0, 1)", tailRatio > 0 && tailRatio < 1);
  const belowMs = latencyAtTail(law, Math.min(1, tailRatio / (1 - SHIFT)));
  const aboveMs = latencyAtTail(law, tailRatio / (1 + SHIFT));
  return aboveMs >= MIN_JUMP * belowMs && aboveMs > 0 ? { aboveMs, belowMs } : undefined;
}
