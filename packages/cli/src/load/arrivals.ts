import type { Rng } from "bobtail/engine";
import type { RateSegment } from "./load-options.ts";
import { RateProfile } from "./rate-profile.ts";

/** `poisson`: users who know nothing of each other. `uniform`: one every 1/rate seconds. */
export type ArrivalPattern = "poisson" | "uniform";

/** Planned moments in order, one at a time. */
export interface MomentSource {
  /** In ms from the start of the run; Infinity once all have been taken. */
  next(): number;
}

export interface ArrivalOptions {
  readonly pattern: ArrivalPattern;
  /** How many there will be, exactly; a whole number >= 0. */
  readonly count: number;
  /** All of them lie in [startMs, startMs + the profile's duration). */
  readonly startMs: number;
  readonly profile: readonly RateSegment[];
  readonly rng: Rng;
}

/**
 * The planned moments of a run at some profile of rates.
 *
 * A Poisson process of which the count is known is that many uniform points in order. They are drawn
 * one by one, each as the minimum of those that are left, so that memory does not grow with the run.
 * Source: Devroye, "Non-Uniform Random Variate Generation", V.3, 1986.
 */
export class Arrivals implements MomentSource {
  private readonly pattern: ArrivalPattern;
  private readonly count: number;
  private readonly startMs: number;
  private readonly lastMs: number;
  private readonly profile: RateProfile;
  private readonly rng: Rng;
  private taken: number;
  private passedRatio: number;

  constructor(options: ArrivalOptions) {
    const durationMs = options.profile.reduce((sum, segment) => sum + segment.durationMs, 0);
    this.pattern = options.pattern;
    this.count = options.count;
    this.startMs = options.startMs;
    this.lastMs = justBefore(options.startMs + durationMs);
    this.profile = new RateProfile(options.profile);
    this.rng = options.rng;
    this.taken = 0;
    this.passedRatio = 0;
  }

  next(): number {
    const left = this.count - this.taken;
    if (left <= 0) return Number.POSITIVE_INFINITY;
    this.taken++;
    const ratio = this.pattern === "uniform" ? (this.taken - 1) / this.count : this.draw(left);
    return Math.min(this.startMs + this.profile.momentOf(ratio), this.lastMs);
  }

  private draw(left: number): number {
    const stepRatio = 1 - (1 - this.rng.next()) ** (1 / left);
    this.passedRatio += (1 - this.passedRatio) * stepRatio;
    return Math.min(this.passedRatio, 1 - Number.EPSILON);
  }
}

/** Moments that somebody recorded. */
export class TraceArrivals implements MomentSource {
  private readonly plannedMs: Float64Array;
  private readonly startMs: number;
  private taken: number;

  constructor(plannedMs: Float64Array, startMs: number) {
    this.plannedMs = plannedMs;
    this.startMs = startMs;
    this.taken = 0;
  }

  next(): number {
    const atMs = this.plannedMs[this.taken++];
    return atMs === undefined ? Number.POSITIVE_INFINITY : this.startMs + atMs;
  }
}

/** The greatest number below it that is told apart. */
function justBefore(ms: number): number {
  return ms * (1 - Number.EPSILON);
}
