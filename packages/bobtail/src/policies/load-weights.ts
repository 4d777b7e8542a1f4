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
  private readonly load: Load;
  private readonly perEndpoint: number;

  constructor(load: Load, perEndpoint: number) {
    this.weights = new Float64Array(0);
    this.load = load;
    this.perEndpoint = perEndpoint;
  }

  resize(count: number): void {
    this.weights = new Float64Array(count);
  }

  /** @returns the sum of the weights: 0 when no endpoint may be used. */
  fill(endpoints: readonly Endpoint[], last: Attempt | undefined, nowMs: number): number {
    const { weights } = this;
    let best = 0;
    for (let i = 0; i < endpoints.length; i++) {
      const e = nth(endpoints, i);
      const worth = mayUse(e, last, this.perEndpoint) ? this.load.worth(e, nowMs) : 0;
      weights[i] = worth;
      if (worth > best) best = worth;
    }
    const full = best / NOISE_FACTOR;
    let sum = 0;
    for (let i = 0; i < endpoints.length; i++) {
      const worth = weights[i] as number;
      const weight = nth(endpoints, i).weight * (worth < full ? worth / full : Math.sign(worth));
      weights[i] = weight;
      sum += weight;
    }
    return sum;
  }
}
