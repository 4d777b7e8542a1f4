import type { Rng } from "../core/rng.ts";
import { DrawnAhead } from "./drawn-ahead.ts";
import type { Arrivals } from "./scenario.ts";

interface Phase {
  readonly fromPerMs: number;
  readonly toPerMs: number;
  readonly forMs: number;
}

/** Tells when the next request comes. Poisson streams of a changing rate by inversion: exact, and one draw an arrival. */
export interface ArrivalClock {
  /** Absolute; Infinity: no more. */
  nextMs(): number;
}

/** @param capacityPerSecond - what `load` is a share of. */
export function createArrivals(
  options: Arrivals,
  capacityPerSecond: number,
  rng: Rng,
): ArrivalClock {
  switch (options.kind) {
    case "poisson":
      return new EvenRate(rateOf(options, capacityPerSecond) / 1000, rng);
    case "uniform":
      return new EvenRate(rateOf(options, capacityPerSecond) / 1000, undefined);
    case "on-off": {
      const { onPerSecond, onMs, offPerSecond, offMs } = options;
      return new PhasedRate([flat(onPerSecond, onMs), flat(offPerSecond, offMs)], 0, rng);
    }
    case "ramp": {
      const { fromPerSecond, toPerSecond, overMs } = options;
      const ramp = { fromPerMs: fromPerSecond / 1000, toPerMs: toPerSecond / 1000, forMs: overMs };
      return new PhasedRate([ramp, flat(toPerSecond, Number.POSITIVE_INFINITY)], 0, rng);
    }
    case "steps":
      return new PhasedRate(
        options.steps.map((step) => flat(step.ratePerSecond, step.forMs)),
        0,
        rng,
      );
    case "trace":
      return new Trace(options.atMs);
  }
}

/** Requests a second, or NaN where the rate changes. */
function rateOf(options: Arrivals, capacityPerSecond: number): number {
  if (options.kind !== "poisson" && options.kind !== "uniform") return Number.NaN;
  return "load" in options ? options.load * capacityPerSecond : options.ratePerSecond;
}

class EvenRate implements ArrivalClock {
  private readonly gapsMs: DrawnAhead;
  private atMs: number;

  constructor(ratePerMs: number, rng: Rng | undefined) {
    const gapMs = 1 / ratePerMs;
    this.gapsMs = new DrawnAhead(
      rng === undefined ? () => gapMs : () => -gapMs * Math.log(1 - rng.next()),
    );
    this.atMs = 0;
  }

  nextMs(): number {
    this.atMs += this.gapsMs.next();
    return this.atMs;
  }
}

/** Source: Cinlar, "Introduction to Stochastic Processes", 1975 (inversion of the integrated rate). */
class PhasedRate implements ArrivalClock {
  private readonly phases: readonly Phase[];
  private readonly rng: Rng;
  private phase: number;
  /** Where in the phase time stands, and when the phase began. */
  private intoMs: number;
  private beganMs: number;

  constructor(phases: readonly Phase[], beganMs: number, rng: Rng) {
    this.phases = phases;
    this.rng = rng;
    this.phase = 0;
    this.intoMs = 0;
    this.beganMs = beganMs;
  }

  nextMs(): number {
    let due = -Math.log(1 - this.rng.next());
    for (;;) {
      const { fromPerMs, toPerMs, forMs } = this.phases[this.phase] as Phase;
      const slope = forMs === Number.POSITIVE_INFINITY ? 0 : (toPerMs - fromPerMs) / forMs;
      const rate = fromPerMs + slope * this.intoMs;
      const leftMs = forMs - this.intoMs;
      const mean = slope === 0 ? rate : rate + (slope * leftMs) / 2;
      const ahead = mean === 0 ? 0 : mean * leftMs;
      if (ahead > due) {
        // The root of rate x + slope x^2 / 2 = due, in the form that keeps its digits where the slope is slight.
        this.intoMs += (2 * due) / (rate + Math.sqrt(rate * rate + 2 * slope * due));
        return this.beganMs + this.intoMs;
      }
      if (forMs === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
      due -= ahead;
      this.beganMs += forMs;
      this.intoMs = 0;
      this.phase = (this.phase + 1) % this.phases.length;
    }
  }
}

class Trace implements ArrivalClock {
  private readonly atMs: readonly number[];
  private index: number;

  constructor(atMs: readonly number[]) {
    this.atMs = atMs;
    this.index = 0;
  }

  nextMs(): number {
    return this.atMs[this.index++] ?? Number.POSITIVE_INFINITY;
  }
}

function flat(ratePerSecond: number, forMs: number): Phase {
  return { fromPerMs: ratePerSecond / 1000, toPerMs: ratePerSecond / 1000, forMs };
}
