import fc from "fast-check";
import { expect, test } from "vitest";
import { nth } from "../core/assert.ts";
import { seededRng } from "../core/rng.ts";
import { Fleet } from "./balancer-contract.testbed.ts";
import { Call } from "./call.ts";
import { createBalancer } from "./create-balancer.ts";
import { Endpoint } from "./endpoint.ts";
import { WeightedDraw } from "./weighted-draw.ts";

const CLASS = { key: "any", delayMs: Number.POSITIVE_INFINITY, medianMs: 0 };

test("never picks the one endpoint busier than every other", () => {
  const loads = fc.uniqueArray(fc.nat({ max: 1000 }), { minLength: 2, maxLength: 50 });
  fc.assert(
    fc.property(loads, fc.integer(), fc.integer({ min: 2, max: 8 }), (counts, seed, choices) => {
      const options = { load: "outstanding", choices, perEndpoint: 10_000 } as const;
      const balancer = createBalancer(options, seededRng(seed));
      const endpoints = counts.map((outstanding, i) => {
        const e = new Endpoint({ name: `e${i}` });
        e.outstanding = outstanding;
        return e;
      });
      balancer.update(endpoints, 0);
      for (let i = 0; i < 5; i++) {
        const picked = balancer.pick(new Call(CLASS, undefined), "primary", 0);
        expect(picked?.outstanding).toBeLessThan(Math.max(...counts));
      }
    }),
  );
});

test("with as many choices as endpoints the least loaded is always found", () => {
  const options = { load: "outstanding", choices: 8, perEndpoint: 100 } as const;
  const balancer = createBalancer(options, seededRng(1));
  balancer.update(
    Array.from({ length: 8 }, (_, i) => new Endpoint({ name: `e${i}`, weight: 1 + (i % 3) })),
    0,
  );
  for (const e of balancer.endpoints) e.outstanding = 20;
  nth(balancer.endpoints, 5).outstanding = 1;
  for (let i = 0; i < 100; i++)
    expect(balancer.pick(new Call(CLASS, undefined), "primary", 0)?.name).toBe("e5");
});

test("every pair is drawn equally often", () => {
  const balancer = createBalancer({ load: "outstanding", perEndpoint: 100 }, seededRng(3));
  balancer.update(
    Array.from({ length: 4 }, (_, i) => new Endpoint({ name: `e${i}` })),
    0,
  );
  for (const [i, e] of balancer.endpoints.entries()) e.outstanding = i;
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < 60_000; i++) {
    const e = balancer.pick(new Call(CLASS, undefined), "primary", 0);
    const at = balancer.endpoints.indexOf(e as Endpoint);
    counts[at] = (counts[at] ?? 0) + 1 / 60_000;
  }
  // Of the six pairs the least loaded wins three, the next two, the next one, the busiest none.
  for (const [i, share] of [3 / 6, 2 / 6, 1 / 6, 0].entries())
    expect(counts[i]).toBeCloseTo(share, 1.8);
});

test("a draw gives every endpoint once, and the first of them in proportion to its weight", () => {
  const weights = [1, 2, 3, 4];
  const endpoints = weights.map((weight, i) => new Endpoint({ name: `e${i}`, weight }));
  const draw = new WeightedDraw(seededRng(5));
  for (const uniform of [true, false]) {
    draw.update(endpoints, uniform);
    const firsts = [0, 0, 0, 0];
    for (let i = 0; i < 40_000; i++) {
      const drawn = [0, 1, 2, 3].map((at) => draw.next(at));
      expect(new Set(drawn).size).toBe(4);
      const at = endpoints.indexOf(nth(drawn, 0));
      firsts[at] = (firsts[at] ?? 0) + 1 / 40_000;
    }
    for (const [i, weight] of weights.entries())
      expect(firsts[i]).toBeCloseTo(uniform ? 0.25 : weight / 10, 1.8);
  }
});

test("with half of the fleet gone, one call in fifty at most meets a dead endpoint", () => {
  const half = Array.from({ length: 10 }, (_, i) => (i < 5 ? { failRatio: 1 } : {}));
  for (const load of ["outstanding", "peak-ewma"] as const) {
    const fleet = new Fleet({ balance: { load }, servers: half, ratePerSec: 1400, seed: 4 });
    fleet.run(5);
    const { shareRatios } = fleet.run(20);
    const dead = shareRatios.slice(0, 5).reduce((sum, share) => sum + share, 0);
    expect(dead).toBeGreaterThan(0);
    expect(dead).toBeLessThan(0.02);
  }
});
