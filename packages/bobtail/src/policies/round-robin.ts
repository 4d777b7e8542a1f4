import { nth } from "../core/assert.ts";
import type { Rng } from "../core/rng.ts";
import type { Attempt } from "./attempt.ts";
import type { Chooser } from "./chooser.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Load } from "./load.ts";
import { LoadWeights } from "./load-weights.ts";

/**
 * Smooth weighted round robin: each pick every usable endpoint gains its weight, and the one that
 * has gained most pays for all. Blind to load: a baseline. O(endpoints) where weights or errors differ.
 *
 * With equal weights the order is a plain ring, and is kept as one: who may not be used in its turn is the
 * next to be asked. Each client starts at random turns, so many clients of one list neither start at the
 * same endpoint nor go round in step.
 * Source: nginx 1.3.1, "smooth weighted round-robin balancing", 2012.
 */
export class RoundRobin implements Chooser {
  private readonly load: Load;
  private readonly weights: LoadWeights;
  private readonly rng: Rng;
  private endpoints: readonly Endpoint[];
  /** Turns are kept in shares of the whole, so that a change of weights leaves no debt in the old unit. */
  private perWeight: number;
  /** The endpoints in the order of their turns, from `at` on; empty while the turns themselves are kept. */
  private ring: Endpoint[];
  private at: number;

  constructor(load: Load, rng: Rng, options: { perEndpoint: number }) {
    this.load = load;
    this.weights = new LoadWeights(load, options.perEndpoint);
    this.rng = rng;
    this.endpoints = [];
    this.perWeight = 1;
    this.ring = [];
    this.at = 0;
  }

  choose(last: Attempt | undefined, _cost: number, nowMs: number): Endpoint | undefined {
    const { ring } = this;
    for (let steps = 0; steps < ring.length; steps++) {
      const e = nth(ring, this.placeAfter(steps));
      if (!this.weights.isUsable(e, last)) continue;
      if (this.weights.isFull(e, nowMs)) return this.take(e, steps);
      this.breakRing();
      break;
    }
    if (this.ring.length > 0) return undefined;
    const e = this.chooseByTurns(last, nowMs);
    if (this.load.uniform && this.weights.allFull) this.layRing();
    return e;
  }

  private chooseByTurns(last: Attempt | undefined, nowMs: number): Endpoint | undefined {
    const { endpoints } = this;
    this.weights.fill(endpoints, last, nowMs);
    const { weights, sum } = this.weights;
    let best: Endpoint | undefined;
    for (let i = 0; i < endpoints.length; i++) {
      const weight = weights[i] as number;
      if (weight === 0) continue;
      const e = nth(endpoints, i);
      e.turn += weight * this.perWeight;
      if (best === undefined || e.turn > best.turn) best = e;
    }
    if (best !== undefined) best.turn -= sum * this.perWeight;
    return best;
  }

  update(endpoints: readonly Endpoint[]): void {
    this.breakRing();
    const known = new Set(this.endpoints);
    const survivors = endpoints.filter((e) => known.has(e));
    const turns = survivors.reduce((total, e) => total + e.turn, 0);
    const middle = survivors.length === 0 ? 0 : turns / survivors.length;
    const newcomers = endpoints.filter((e) => !known.has(e));
    for (let left = newcomers.length; left > 0; left--) {
      // Drawn one by one, each into a slice of its own of one whole turn: random, but well apart.
      const at = this.rng.below(left);
      const e = nth(newcomers, at);
      newcomers[at] = nth(newcomers, left - 1);
      e.turn = middle + (left - this.rng.next()) / newcomers.length - 0.5;
    }
    this.endpoints = endpoints;
    this.weights.resize(endpoints.length);
    this.perWeight = 1 / endpoints.reduce((sum, e) => sum + e.weight, 0);
  }

  private placeAfter(steps: number): number {
    const place = this.at + steps;
    return place < this.ring.length ? place : place - this.ring.length;
  }

  /** It goes to the end of the ring; those before it, which could not be used, stay at the front. */
  private take(e: Endpoint, steps: number): Endpoint {
    for (let step = steps; step > 0; step--)
      this.ring[this.placeAfter(step)] = nth(this.ring, this.placeAfter(step - 1));
    this.ring[this.at] = e;
    this.at = this.placeAfter(1);
    return e;
  }

  private layRing(): void {
    this.ring = [...this.endpoints].sort((a, b) => b.turn - a.turn);
    this.at = 0;
  }

  /** From places back to turns, one place apart and zero on average. */
  private breakRing(): void {
    const { length } = this.ring;
    for (let steps = 0; steps < length; steps++)
      nth(this.ring, this.placeAfter(steps)).turn = 0.5 - (steps + 0.5) / length;
    this.ring = [];
  }
}
