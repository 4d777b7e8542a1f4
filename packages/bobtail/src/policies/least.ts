import { nth } from "../core/assert.ts";
import { checkOption } from "../core/errors.ts";
import type { Rng } from "../core/rng.ts";
import type { Attempt } from "./attempt.ts";
import { type Chooser, mayUse } from "./chooser.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Load } from "./load.ts";

/** A scan costs a few nanoseconds an endpoint; beyond this `two-choices` does nearly as well at a constant cost. */
const MAX_ENDPOINTS = 64;

/** The least loaded of all. Ties are drawn by weight, so that no position in the list is favoured. */
export class Least implements Chooser {
  private readonly load: Load;
  private readonly rng: Rng;
  private readonly perEndpoint: number;
  private readonly loads: Float64Array;
  private readonly ties: Uint8Array;
  private endpoints: readonly Endpoint[];

  constructor(load: Load, rng: Rng, options: { perEndpoint: number }) {
    this.load = load;
    this.rng = rng;
    this.perEndpoint = options.perEndpoint;
    this.loads = new Float64Array(MAX_ENDPOINTS);
    this.ties = new Uint8Array(MAX_ENDPOINTS);
    this.endpoints = [];
  }

  choose(last: Attempt | undefined, cost: number, nowMs: number): Endpoint | undefined {
    if (!this.load.uniform) return this.chooseByWeight(last, cost, nowMs);
    const { endpoints, load, ties } = this;
    let least = Number.POSITIVE_INFINITY;
    let count = 0;
    for (let i = 0; i < endpoints.length; i++) {
      const e = nth(endpoints, i);
      if (!mayUse(e, last, this.perEndpoint)) continue;
      const loadOfE = load.of(e, cost, nowMs);
      if (loadOfE < least) {
        least = loadOfE;
        count = 0;
      }
      if (loadOfE === least) ties[count++] = i;
    }
    if (count === 0) return undefined;
    return nth(endpoints, ties[count === 1 ? 0 : (this.rng.next() * count) | 0] as number);
  }

  private chooseByWeight(
    last: Attempt | undefined,
    cost: number,
    nowMs: number,
  ): Endpoint | undefined {
    const { endpoints, load, loads } = this;
    let least = -1;
    for (let i = 0; i < endpoints.length; i++) {
      const e = nth(endpoints, i);
      loads[i] = mayUse(e, last, this.perEndpoint)
        ? load.of(e, cost, nowMs)
        : Number.POSITIVE_INFINITY;
      if (loads[i] === Number.POSITIVE_INFINITY) continue;
      if (least < 0 || (loads[i] as number) < (loads[least] as number)) least = i;
    }
    return least < 0 ? undefined : this.drawTie(least);
  }

  update(endpoints: readonly Endpoint[]): void {
    this.endpoints = endpoints;
  }

  private drawTie(least: number): Endpoint {
    const { endpoints, loads, ties } = this;
    const best = nth(endpoints, least);
    const leastLoad = loads[least] as number;
    const idle = best.outstanding === 0;
    const limit = idle ? this.load.idleTie(leastLoad) : leastLoad;
    let count = 0;
    let weights = 0;
    for (let i = least; i < endpoints.length; i++) {
      const e = nth(endpoints, i);
      if ((loads[i] as number) > limit || (idle && e.outstanding > 0)) continue;
      ties[count++] = i;
      weights += e.weight;
    }
    if (count === 1) return best;
    let point = this.rng.next() * weights;
    for (let i = 0; i < count - 1; i++) {
      const e = nth(endpoints, ties[i] as number);
      point -= e.weight;
      if (point < 0) return e;
    }
    return nth(endpoints, ties[count - 1] as number);
  }
}

/** Refuses more endpoints than a scan is meant for. */
export function checkLeast(endpoints: readonly Endpoint[]): void {
  checkOption(
    { endpoints: endpoints.length },
    `at most ${MAX_ENDPOINTS} endpoints with the policy least`,
    endpoints.length <= MAX_ENDPOINTS,
  );
}
