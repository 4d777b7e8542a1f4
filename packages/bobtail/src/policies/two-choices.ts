import { nth } from "../core/assert.ts";
import type { Rng } from "../core/rng.ts";
import type { Attempt } from "./attempt.ts";
import { type Chooser, mayUse } from "./chooser.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Load } from "./load.ts";
import { WeightedDraw } from "./weighted-draw.ts";

/** What errors must leave of an endpoint for it to be a choice; with less it is one only while nothing better is found. */
const SOUND_RATIO = 0.25;
/** Unsound endpoints looked at before the best of them is taken: where everything fails, looking on helps nobody. */
const MAX_UNSOUND = 8;
/** Beyond it 32 random bits for a pair would be felt as unevenness. */
const MAX_IN_PAIRS = 1024;

/**
 * The power of two choices: draw a few distinct endpoints, take the least loaded of them.
 *
 * The draws go by weight, and go on until enough usable ones are found or none is left, so the cost
 * is a constant unless most endpoints are full. Two random draws keep the load nearly as even as a
 * scan would, and unlike a scan many clients with the same stale view do not all choose the same one.
 * Endpoints that fail do not count as choices: with half of a fleet gone, two draws in nine would meet only those.
 * Source: Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 12(10), 2001.
 */
export class TwoChoices implements Chooser {
  private readonly load: Load;
  private readonly rng: Rng;
  private readonly draw: WeightedDraw;
  private readonly choices: number;
  private readonly perEndpoint: number;
  private endpoints: readonly Endpoint[];
  private count: number;
  /** How many ordered pairs there are, if one even draw among them will do; else 0. */
  private pairs: number;

  constructor(load: Load, rng: Rng, options: { choices: number; perEndpoint: number }) {
    this.load = load;
    this.rng = rng;
    this.draw = new WeightedDraw(rng);
    this.choices = options.choices;
    this.perEndpoint = options.perEndpoint;
    this.endpoints = [];
    this.count = 0;
    this.pairs = 0;
  }

  choose(last: Attempt | undefined, cost: number, nowMs: number): Endpoint | undefined {
    if (this.pairs > 0) {
      // Nearly every pick ends here: one draw among all ordered pairs, the second a step round the ring.
      const { endpoints, count } = this;
      const pair = this.rng.below(this.pairs);
      const round = (pair / count) | 0;
      const first = pair - round * count;
      const second = first + 1 + round;
      const a = nth(endpoints, first);
      const b = nth(endpoints, second < count ? second : second - count);
      if (mayUse(a, last, this.perEndpoint) && mayUse(b, last, this.perEndpoint)) {
        const best = this.load.notBusier(a, b, cost, nowMs) ? a : b;
        if (best.errorShareRatio === 0 || this.isSound(best, nowMs)) return best;
      }
    }
    return this.drawOn(last, cost, nowMs);
  }

  private drawOn(last: Attempt | undefined, cost: number, nowMs: number): Endpoint | undefined {
    let best: Endpoint | undefined;
    let sound = 0;
    let unsound = 0;
    for (let drawn = 0; drawn < this.count; drawn++) {
      if (sound >= this.choices || unsound >= MAX_UNSOUND) break;
      const e = this.draw.next(drawn);
      if (!mayUse(e, last, this.perEndpoint)) continue;
      if (this.isSound(e, nowMs)) sound++;
      else unsound++;
      if (best === undefined || !this.load.notBusier(best, e, cost, nowMs)) best = e;
    }
    return best;
  }

  private isSound(e: Endpoint, nowMs: number): boolean {
    return this.load.worth(e, nowMs) >= SOUND_RATIO;
  }

  update(endpoints: readonly Endpoint[]): void {
    this.endpoints = endpoints;
    this.count = endpoints.length;
    const even = this.choices === 2 && this.load.uniform && this.count <= MAX_IN_PAIRS;
    this.pairs = even ? this.count * (this.count - 1) : 0;
    this.draw.update(endpoints, this.load.uniform);
  }
}
