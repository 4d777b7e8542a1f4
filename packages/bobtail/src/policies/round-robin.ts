import { nth } from "../core/assert.ts";
import type { Rng } from "../core/rng.ts";
import type { Attempt } from "./attempt.ts";
import { type Chooser, mayUse } from "./chooser.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Load } from "./load.ts";

/**
 * Smooth weighted round robin: each pick every usable endpoint gains its weight, and the one that
 * has gained most pays for all. Blind to load: a baseline. O(endpoints), whatever the weights are.
 *
 * Each client starts at random turns, so many clients of one list neither start at the same endpoint
 * nor go round in step. With equal weights the order is a plain ring.
 * Source: nginx 1.3.1, "smooth weighted round-robin balancing", 2012.
 */
export class RoundRobin implements Chooser {
  private readonly load: Load;
  private readonly rng: Rng;
  private readonly perEndpoint: number;
  private endpoints: readonly Endpoint[];

  constructor(load: Load, rng: Rng, options: { perEndpoint: number }) {
    this.load = load;
    this.rng = rng;
    this.perEndpoint = options.perEndpoint;
    this.endpoints = [];
  }

  choose(last: Attempt | undefined, _cost: number, nowMs: number): Endpoint | undefined {
    let best: Endpoint | undefined;
    let sum = 0;
    for (let i = 0; i < this.endpoints.length; i++) {
      const e = nth(this.endpoints, i);
      if (!mayUse(e, last, this.perEndpoint)) continue;
      const weight = this.load.weightOf(e, nowMs);
      sum += weight;
      e.turn += weight;
      if (best === undefined || e.turn > best.turn) best = e;
    }
    if (best !== undefined) best.turn -= sum;
    return best;
  }

  update(endpoints: readonly Endpoint[]): void {
    const known = new Set(this.endpoints);
    const survivors = endpoints.filter((e) => known.has(e));
    const sum = endpoints.reduce((total, e) => total + e.weight, 0);
    const turns = survivors.reduce((total, e) => total + e.turn, 0);
    const middle = survivors.length === 0 ? 0 : turns / survivors.length;
    for (const e of endpoints) {
      if (!known.has(e)) e.turn = middle + (this.rng.next() - 0.5) * sum;
    }
    this.endpoints = endpoints;
  }
}
