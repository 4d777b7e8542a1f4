import { type Rng, seededRng } from "bobtail/engine";
import { Arrivals, type MomentSource, TraceArrivals } from "./arrivals.ts";
import type { LoadPlan } from "./load-plan.ts";

/** The part of a run that one of several threads sends: every `of`-th request, from the `index`-th on. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

export const WHOLE: Share = { index: 0, of: 1 };

/**
 * The planned sends of a whole run: those of the warm-up, then those that are measured, each with its target.
 *
 * Every thread walks all of it and sends its own share, so that the shares are the plan by construction.
 */
export class Schedule {
  /** When the next request of the share is due, in ms from the start; Infinity when none is left. */
  nextMs: number;
  /** What it asks for: an index into the plan's targets. */
  target: number;
  isWarmup: boolean;
  /** Its number in its part, all shares counted. */
  turn: number;
  /** The same in the whole run, modulo 2^32. */
  ordinal: number;
  private readonly share: Share;
  private readonly early: MomentSource;
  private readonly late: MomentSource;
  private readonly draw: () => number;

  constructor(plan: LoadPlan, share: Share = WHOLE) {
    const rng = seededRng(plan.seed);
    this.share = share;
    this.early = warmupMoments(plan, rng.split("warm-up"));
    this.late = measuredMoments(plan, rng.split("measured"));
    this.draw = targetDraw(plan, rng.split("targets"));
    this.nextMs = 0;
    this.target = 0;
    this.isWarmup = true;
    this.turn = -1;
    this.ordinal = -1;
    this.advance();
  }

  advance(): void {
    do this.step();
    while (
      this.turn % this.share.of !== this.share.index &&
      this.nextMs < Number.POSITIVE_INFINITY
    );
  }

  /** Nothing more will be sent. */
  stop(): void {
    this.nextMs = Number.POSITIVE_INFINITY;
  }

  private step(): void {
    this.turn++;
    this.ordinal = (this.ordinal + 1) | 0;
    this.nextMs = (this.isWarmup ? this.early : this.late).next();
    if (this.isWarmup && this.nextMs === Number.POSITIVE_INFINITY) {
      this.isWarmup = false;
      this.turn = 0;
      this.nextMs = this.late.next();
    }
    this.target = this.draw();
  }
}

/** How many of `count` requests are a share's. */
export function countOfShare(count: number, { index, of }: Share): number {
  return Math.floor((count - index + of - 1) / of);
}

function warmupMoments(plan: LoadPlan, rng: Rng): MomentSource {
  const { warmupCount: count, warmupMs: durationMs, arrivals: pattern } = plan;
  const profile = [{ fromPerSec: count, toPerSec: count, durationMs }];
  return new Arrivals({ pattern, count, startMs: 0, profile, rng });
}

function measuredMoments(plan: LoadPlan, rng: Rng): MomentSource {
  const { count, warmupMs: startMs, profile, plannedMs, arrivals: pattern } = plan;
  if (plannedMs !== undefined) return new TraceArrivals(plannedMs, startMs);
  return new Arrivals({ pattern, count, startMs, profile, rng });
}

/** Draws by weight: the index of the first running sum above a uniform point. */
function targetDraw({ targets }: LoadPlan, rng: Rng): () => number {
  if (targets.length <= 1) return () => 0;
  let sum = 0;
  const sums = Float64Array.from(targets, ({ weight }) => {
    sum += weight;
    return sum;
  });
  return () => {
    const point = rng.next() * sum;
    let low = 0;
    let high = sums.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] as number) > point) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
