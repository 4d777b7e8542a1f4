import type { Rng } from "bobtail/engine";

/** `poisson`: users who know nothing of each other. `uniform`: one every 1/rate seconds. */
export type ArrivalPattern = "poisson" | "uniform";

export interface ArrivalOptions {
  readonly pattern: ArrivalPattern;
  /** How many there will be, exactly; a whole number >= 0. */
  readonly count: number;
  /** All of them lie in [startMs, startMs + durationMs). */
  readonly startMs: number;
  readonly durationMs: number;
  readonly rng: Rng;
}

/**
 * The planned moments of a run, one at a time, in order.
 *
 * A Poisson process of which the count is known is that many uniform points in order. They are drawn
 * one by one, each as the minimum of those that are left, so that memory does not grow with the run.
 * Source: Devroye, "Non-Uniform Random Variate Generation", V.3, 1986.
 */
export class Arrivals {
  private readonly pattern: ArrivalPattern;
  private readonly count: number;
  private readonly startMs: number;
  private readonly durationMs: number;
  private readonly rng: Rng;
  private taken: number;
  private passedRatio: number;

  constructor(options: ArrivalOptions) {
    this.pattern = options.pattern;
    this.count = options.count;
    this.startMs = options.startMs;
    this.durationMs = options.durationMs;
    this.rng = options.rng;
    this.taken = 0;
    this.passedRatio = 0;
  }

  /** The next planned moment; Infinity once all have been taken. */
  next(): number {
    const left = this.count - this.taken;
    if (left <= 0) return Number.POSITIVE_INFINITY;
    this.taken++;
    if (this.pattern === "uniform")
      return this.startMs + (this.durationMs * (this.taken - 1)) / this.count;
    const stepRatio = 1 - (1 - this.rng.next()) ** (1 / left);
    this.passedRatio += (1 - this.passedRatio) * stepRatio;
    return this.startMs + this.durationMs * Math.min(this.passedRatio, 1 - Number.EPSILON);
  }
}
