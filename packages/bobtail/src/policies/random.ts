import { nth } from "../core/assert.ts";
import type { Rng } from "../core/rng.ts";
import type { Attempt } from "./attempt.ts";
import type { Chooser } from "./chooser.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Load } from "./load.ts";
import { LoadWeights } from "./load-weights.ts";

/**
 * One at random, in proportion to what weight and errors leave it. Blind to load: a baseline.
 *
 * O(endpoints), but where all weights are equal a constant as a rule: one is drawn evenly and kept if it counts in
 * full; one that counts for less is kept by that much, or a draw among all decides, so that proportions hold.
 * Source: von Neumann, "Various Techniques Used in Connection with Random Digits", 1951 (rejection).
 */
export class Random implements Chooser {
  private readonly load: Load;
  private readonly weights: LoadWeights;
  private readonly rng: Rng;
  private endpoints: readonly Endpoint[];

  constructor(load: Load, rng: Rng, options: { perEndpoint: number }) {
    this.load = load;
    this.weights = new LoadWeights(load, options.perEndpoint);
    this.rng = rng;
    this.endpoints = [];
  }

  choose(last: Attempt | undefined, _cost: number, nowMs: number): Endpoint | undefined {
    const { endpoints, weights } = this;
    if (!this.load.uniform || endpoints.length === 0) {
      weights.fill(endpoints, last, nowMs);
      return this.drawAmongAll();
    }
    const at = Math.floor(this.rng.next() * endpoints.length);
    const e = nth(endpoints, at);
    if (weights.isUsable(e, last) && weights.isFull(e, nowMs)) return e;
    weights.fill(endpoints, last, nowMs);
    // Kept as often as its share of an equal weight; else as if nothing had been drawn.
    if (this.rng.next() * e.weight < (weights.weights[at] as number)) return e;
    return this.drawAmongAll();
  }

  private drawAmongAll(): Endpoint | undefined {
    const { endpoints } = this;
    const { weights, sum } = this.weights;
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
    this.weights.resize(endpoints.length);
  }
}
