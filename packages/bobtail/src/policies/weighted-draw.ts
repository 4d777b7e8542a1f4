import { nth } from "../core/assert.ts";
import type { Rng } from "../core/rng.ts";
import type { Endpoint } from "./endpoint.ts";

/** Tries to draw by weight one that has not been drawn; then one of the rest is taken evenly. */
const MAX_REDRAWS = 8;

/**
 * Draws endpoints one after the other, never the same twice in one pick: evenly, or in proportion
 * to their weights.
 *
 * A permutation that lives from pick to pick, whose first places are the ones drawn: a partial
 * Fisher-Yates shuffle, which needs no reset, no redraw when weights are equal, and no allocation.
 */
export class WeightedDraw {
  private readonly rng: Rng;
  private endpoints: readonly Endpoint[];
  /** Indices of endpoints; the drawn ones first. */
  private order: Uint32Array;
  /** Where each index stands in `order`; kept only when weights differ. */
  private place: Uint32Array;
  /** Sums of weights up to and including each endpoint; empty when all are equal. */
  private sums: Float64Array;

  constructor(rng: Rng) {
    this.rng = rng;
    this.endpoints = [];
    this.order = new Uint32Array(0);
    this.place = new Uint32Array(0);
    this.sums = new Float64Array(0);
  }

  update(endpoints: readonly Endpoint[], uniform: boolean): void {
    this.endpoints = endpoints;
    this.order = Uint32Array.from(endpoints, (_, i) => i);
    this.place = Uint32Array.from(this.order);
    this.sums = new Float64Array(uniform ? 0 : endpoints.length);
    let sum = 0;
    for (let i = 0; i < this.sums.length; i++) {
      sum += nth(endpoints, i).weight;
      this.sums[i] = sum;
    }
  }

  /** The next distinct endpoint of this pick, of which `drawn` have been drawn; `drawn` below their number. */
  next(drawn: number): Endpoint {
    const { order } = this;
    const at = this.sums.length === 0 ? this.evenly(drawn) : this.byWeight(drawn);
    const index = order[at] as number;
    const other = order[drawn] as number;
    order[at] = other;
    order[drawn] = index;
    if (this.sums.length > 0) {
      this.place[other] = at;
      this.place[index] = drawn;
    }
    return nth(this.endpoints, index);
  }

  private evenly(drawn: number): number {
    return drawn + this.rng.below(this.order.length - drawn);
  }

  private byWeight(drawn: number): number {
    for (let i = 0; i < MAX_REDRAWS; i++) {
      const at = this.place[this.indexByWeight()] as number;
      if (at >= drawn) return at;
    }
    return this.evenly(drawn);
  }

  private indexByWeight(): number {
    const { sums } = this;
    let low = 0;
    let high = sums.length - 1;
    const point = this.rng.next() * (sums[high] as number);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (point < (sums[middle] as number)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
