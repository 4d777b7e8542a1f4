import { nth } from "../core/assert.ts";
import type { Rng } from "../core/rng.ts";
import type { Attempt } from "./attempt.ts";
import { type Chooser, mayUse } from "./chooser.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Load } from "./load.ts";

/** One at random, in proportion to what weight and errors leave it. Blind to load: a baseline. O(endpoints). */
export class Random implements Chooser {
  private readonly load: Load;
  private readonly rng: Rng;
  private readonly perEndpoint: number;
  private endpoints: readonly Endpoint[];
  private weights: Float64Array;

  constructor(load: Load, rng: Rng, options: { perEndpoint: number }) {
    this.load = load;
    this.rng = rng;
    this.perEndpoint = options.perEndpoint;
    this.endpoints = [];
    this.weights = new Float64Array(0);
  }

  choose(last: Attempt | undefined, _cost: number, nowMs: number): Endpoint | undefined {
    const { endpoints, weights } = this;
    let sum = 0;
    for (let i = 0; i < endpoints.length; i++) {
      const e = nth(endpoints, i);
      weights[i] = mayUse(e, last, this.perEndpoint) ? this.load.weightOf(e, nowMs) : 0;
      sum += weights[i] as number;
    }
    if (sum === 0) return undefined;
    let point = this.rng.next() * sum;
    let chosen: Endpoint | undefined;
    for (let i = 0; i < endpoints.length && point >= 0; i++) {
      const weight = weights[i] as number;
      if (weight === 0) continue;
      // The last usable one stands if rounding leaves the point just past the sum.
      chosen = nth(endpoints, i);
      point -= weight;
    }
    return chosen;
  }

  update(endpoints: readonly Endpoint[]): void {
    this.endpoints = endpoints;
    this.weights = new Float64Array(endpoints.length);
  }
}
