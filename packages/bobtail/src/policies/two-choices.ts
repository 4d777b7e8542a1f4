import type { Rng } from "../core/rng.ts";
import type { Attempt } from "./attempt.ts";
import { type Chooser, mayUse } from "./chooser.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Load } from "./load.ts";
import { WeightedDraw } from "./weighted-draw.ts";

/**
 * The power of two choices: draw a few distinct endpoints, take the least loaded of them.
 *
 * The draws go by weight, and go on until enough usable ones are found or none is left, so the cost
 * is a constant unless most endpoints are full. Two random draws keep the load nearly as even as a
 * scan would, and unlike a scan many clients with the same stale view do not all choose the same one.
 * Source: Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 12(10), 2001.
 */
export class TwoChoices implements Chooser {
  private readonly load: Load;
  private readonly draw: WeightedDraw;
  private readonly choices: number;
  private readonly perEndpoint: number;
  private count: number;

  constructor(load: Load, rng: Rng, options: { choices: number; perEndpoint: number }) {
    this.load = load;
    this.draw = new WeightedDraw(rng);
    this.choices = options.choices;
    this.perEndpoint = options.perEndpoint;
    this.count = 0;
  }

  choose(last: Attempt | undefined, cost: number, nowMs: number): Endpoint | undefined {
    let best: Endpoint | undefined;
    let found = 0;
    for (let drawn = 0; drawn < this.count && found < this.choices; drawn++) {
      const e = this.draw.next(drawn);
      if (!mayUse(e, last, this.perEndpoint)) continue;
      found++;
      if (best === undefined || !this.load.notBusier(best, e, cost, nowMs)) best = e;
    }
    return best;
  }

  update(endpoints: readonly Endpoint[]): void {
    this.count = endpoints.length;
    this.draw.update(endpoints, this.load.uniform);
  }
}
