import type { RateSegment } from "./load-options.ts";

/** How many requests such a profile asks for; not rounded. */
export function integralOf(profile: readonly RateSegment[]): number {
  return profile.reduce((sum, segment) => sum + countOf(segment), 0);
}

function countOf({ fromPerSec, toPerSec, durationMs }: RateSegment): number {
  return (((fromPerSec + toPerSec) / 2) * durationMs) / 1_000;
}

/**
 * Turns shares of a run's requests into moments: the inverse of the cumulative rate, walked forwards.
 *
 * Points that are spread evenly over [0, 1), or a Poisson process on it, become the same at the profile's rate.
 * Source: Çinlar, "Introduction to Stochastic Processes", 1975, 4.7.
 */
export class RateProfile {
  private readonly profile: readonly RateSegment[];
  private readonly whole: number;
  private index: number;
  /** Requests and time before the segment. */
  private countBefore: number;
  private msBefore: number;

  constructor(profile: readonly RateSegment[]) {
    this.profile = profile;
    this.whole = integralOf(profile);
    this.index = 0;
    this.countBefore = 0;
    this.msBefore = 0;
  }

  /**
   * When that share of the requests has been sent, in ms from the start of the profile.
   *
   * @param ratio - in [0, 1), not below the one of the call before.
   */
  momentOf(ratio: number): number {
    const count = ratio * this.whole;
    let segment = this.profile[this.index];
    while (segment !== undefined && this.index < this.profile.length - 1) {
      const next = this.countBefore + countOf(segment);
      if (count < next) break;
      this.countBefore = next;
      this.msBefore += segment.durationMs;
      segment = this.profile[++this.index];
    }
    if (segment === undefined) return this.msBefore;
    return this.msBefore + momentWithin(segment, Math.max(0, count - this.countBefore));
  }
}

/**
 * The root of from t + (to - from) t^2 / 2D = count, in the form that holds for level segments and for ramps from and to 0.
 */
function momentWithin({ fromPerSec, toPerSec, durationMs }: RateSegment, count: number): number {
  if (count <= 0) return 0;
  const from = fromPerSec / 1_000;
  const slope = (toPerSec - fromPerSec) / 1_000 / durationMs;
  const root = Math.sqrt(Math.max(0, from * from + 2 * slope * count));
  // So near to the start of a ramp from nothing that the root has no digits.
  if (from + root === 0) return 0;
  return Math.min(durationMs, (2 * count) / (from + root));
}
