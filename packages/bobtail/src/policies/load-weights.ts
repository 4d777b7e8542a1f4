import { nth } from "../core/assert.ts";
import type { Attempt } from "./attempt.ts";
import { mayUse } from "./chooser.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Load } from "./load.ts";

/**
 * Worth within this factor of the best counts in full. Without it the noise of uniform errors of
 * 10 % would unbalance policies that cannot see load: p99 7 % longer at 70 % load.
 */
const NOISE_FACTOR = 2;

/** What takes part in a draw or a turn of the policies that are blind to load: weight x worth; 0: may not be used. */
export class LoadWeights {
  weights: Float64Array;
  /** As of the last `fill`: the sum of the weights, 0 when no endpoint may be used. */
  sum: number;
  /** As of the last `fill`: no endpoint that may be used has lost so much of its worth that it could count for less. */
  allFull: boolean;
  private readonly load: Load;
  private readonly perEndpoint: number;

  constructor(load: Load, perEndpoint: number) {
    this.weights = new Float64Array(0);
    this.sum = 0;
    this.allFull = false;
    this.load = load;
    this.perEndpoint = perEndpoint;
  }

  resize(count: number): void {
    this.weights = new Float64Array(count);
  }

  isUsable(e: Endpoint, last: Attempt | undefined): boolean {
    return mayUse(e, last, this.perEndpoint);
  }

  /** Whatever the others are worth, its own weight counts in full. */
  isFull(e: Endpoint, nowMs: number): boolean {
    return this.load.worth(e, nowMs) >= 1 / NOISE_FACTOR;
  }

  fill(endpoints: readonly Endpoint[], last: Attempt | undefined, nowMs: number): void {
    const { weights } = this;
    let best = 0;
    let least = 1;
    for (let i = 0; i < endpoints.length; i++) {
      const e = nth(endpoints, i);
      const usable = this.isUsable(e, last);
      const worth = usable ? this.load.worth(e, nowMs) : 0;
      weights[i] = worth;
      if (worth > best) best = worth;
      if (usable && worth < least) least = worth;
    }
    this.allFull = least >= 1 / NOISE_FACTOR;
    const full = best / NOISE_FACTOR;
    let sum = 0;
    for (let i = 0; i < endpoints.length; i++) {
      const worth = weights[i] as number;
      const weight = nth(endpoints, i).weight * (worth < full ? worth / full : Math.sign(worth));
      weights[i] = weight;
      sum += weight;
    }
    this.sum = sum;
  }
}
