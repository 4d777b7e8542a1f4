import { nth } from "../core/assert.ts";
import type { Rng } from "../core/rng.ts";
import type { Attempt } from "./attempt.ts";
import type { Chooser } from "./chooser.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Load } from "./load.ts";
import { LoadWeights } from "./load-weights.ts";

/** One at random, in proportion to what weight and errors leave it. Blind to load: a baseline. O(endpoints). */
export class Random implements Chooser {
  private readonly weights: LoadWeights;
  private readonly rng: Rng;
  private endpoints: readonly Endpoint[];

  constructor(load: Load, rng: Rng, options: { perEndpoint: number }) {
    this.weights = new LoadWeights(load, options.perEndpoint);
    this.rng = rng;
    this.endpoints = [];
  }

  choose(last: Attempt | undefined, _cost: number, nowMs: number): Endpoint | undefined {
    const { endpoints } = this;
    const sum = this.weights.fill(endpoints, last, nowMs);
    if (sum === 0) return undefined;
    const { weights } = this.weights;
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
    this.weights.resize(endpoints.length);
  }
}
