import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nth } from "../core/assert.ts";
import { seededRng } from "../core/rng.ts";
import { Attempt } from "./attempt.ts";
import type { Balancer } from "./balancer.ts";
import { Fleet, servers } from "./balancer-contract.testbed.ts";
import { Call } from "./call.ts";
import { type BalancerOptions, createBalancer } from "./create-balancer.ts";
import { Endpoint } from "./endpoint.ts";

const CLASS = { key: "any", delayMs: Number.POSITIVE_INFINITY, medianMs: 0 };

function build(options: Partial<BalancerOptions>, count: number, seed = 1): Balancer {
  const balancer = createBalancer({ perEndpoint: 1_000_000, ...options }, seededRng(seed));
  balancer.update(
    Array.from({ length: count }, (_, i) => new Endpoint({ name: `e${i}` })),
    0,
  );
  return balancer;
}

function pick(balancer: Balancer, nowMs = 0): Endpoint {
  const e = balancer.pick(new Call(CLASS, undefined), "primary", nowMs);
  if (e === undefined) throw new Error("no endpoint");
  return e;
}

/** Shares of picks that change nothing. */
function shares(balancer: Balancer, nowMs = 0): number[] {
  const counts = balancer.endpoints.map(() => 0);
  for (let i = 0; i < 30_000; i++) {
    const at = balancer.endpoints.indexOf(pick(balancer, nowMs));
    counts[at] = (counts[at] ?? 0) + 1 / 30_000;
  }
  return counts;
}

describe("defects seen in client libraries", () => {
  test("B14: a hedge never goes to the endpoint of the primary; with one endpoint there is no hedge", () => {
    for (const policy of ["round-robin", "random", "least", "two-choices"] as const) {
      const balancer = build({ policy }, 2);
      for (let i = 0; i < 200; i++) {
        const call = new Call(CLASS, undefined);
        const first = pick(balancer);
        call.last = new Attempt(call, first, "primary", 0);
        expect(balancer.pick(call, "hedge", 0)).not.toBe(first);
      }
      const call = new Call(CLASS, undefined);
      const single = build({ policy }, 1);
      call.last = new Attempt(call, pick(single), "primary", 0);
      expect(balancer.pick(call, "hedge", 0)).toBeDefined();
      expect(single.pick(call, "hedge", 0)).toBe(undefined);
    }
  });

  test("B35: whatever the estimate and the penalty, one more outstanding attempt is always more load", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        fc.nat({ max: 1_000_000 }),
        fc.nat({ max: 500 }),
        fc.double({ min: 0, max: 1e8, noNaN: true }),
        (latencyMs, outstanding, failures, idleMs) => {
          const balancer = build({ policy: "least", perEndpoint: 2_000_000 }, 2);
          for (const e of balancer.endpoints) {
            balancer.observe(e, latencyMs, "win", 0);
            for (let i = 0; i < failures; i++) balancer.observe(e, 0, "failed", 0);
            e.outstanding = outstanding;
          }
          nth(balancer.endpoints, 1).outstanding++;
          expect(pick(balancer, idleMs).name).toBe("e0");
        },
      ),
    );
  });

  test.each(["least", "two-choices"] as const)(
    "B37 (ingress-nginx 3709, 4448; proxies 5): with %s a new endpoint starts at its peers' median, and a change of the list forgets nothing",
    (policy) => {
      const balancer = build({ policy }, 3);
      for (const [i, e] of balancer.endpoints.entries())
        balancer.observe(e, 10 * (i + 1), "win", 0);
      const fresh = new Endpoint({ name: "fresh" });
      balancer.update([...balancer.endpoints, fresh], 0);
      expect(balancer.endpoints.slice(0, 3).map((e) => e.latencyMs)).toEqual([10, 20, 30]);
      // Idle, it loses to the one at 10 ms, ties with the one at 20 and beats the one at 30.
      const [fast, middle, slow] = balancer.endpoints;
      for (const e of [middle, slow]) if (e !== undefined) e.outstanding = 1000;
      expect(shares(balancer)[3]).toBeLessThan(0.6);
      if (fast !== undefined) fast.outstanding = 1000;
      expect(shares(balancer)[3]).toBeGreaterThan(0.4);
    },
  );

  test("B38 (ingress-nginx 5540; proxies 3): a failure in a millisecond never lowers an estimate, and costs traffic", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("failed", "fatal", "superseded", "cancelled", "ignored"),
        fc.double({ min: 0, max: 100, noNaN: true }),
        fc.double({ min: 0, max: 60_000, noNaN: true }),
        (outcome, latencyMs, ageMs) => {
          const balancer = build({ policy: "least", errorPenalty: false }, 2);
          for (const e of balancer.endpoints) balancer.observe(e, 50, "win", 0);
          balancer.observe(nth(balancer.endpoints, 0), latencyMs, outcome, ageMs);
          const [hit, untouched] = balancer.endpoints;
          if (hit === undefined || untouched === undefined) throw new Error("two endpoints");
          // A tie or worse: were its estimate any lower, it would win every time.
          const picks = Array.from({ length: 40 }, () => pick(balancer, ageMs));
          expect(picks).toContain(untouched);
          hit.outstanding = 1;
          expect(pick(balancer, ageMs)).toBe(untouched);
        },
      ),
    );
    const balancer = build({ policy: "least" }, 2);
    for (let i = 0; i < 20; i++) balancer.observe(nth(balancer.endpoints, 0), 1, "failed", i);
    expect(shares(balancer, 20)).toEqual([0, expect.closeTo(1)]);
  });

  test("B39 (envoy 11004, 14859; proxies 1): two draws are two endpoints: the busiest of three gets nothing, of two neither", () => {
    const three = build({ load: "outstanding" }, 3);
    nth(three.endpoints, 0).outstanding = 10;
    expect(shares(three)).toEqual([0, expect.closeTo(0.5, 1), expect.closeTo(0.5, 1)]);
    const two = build({ load: "outstanding" }, 2);
    nth(two.endpoints, 0).outstanding = 10;
    expect(shares(two)).toEqual([0, expect.closeTo(1)]);
    expect(pick(build({ choices: 8 }, 1)).name).toBe("e0");
  });

  test("B41: equal weights go round in a plain ring, whatever the weight is", () => {
    for (const weight of [1, 0.3, 1e-9, 1e9]) {
      const balancer = build({ policy: "round-robin" }, 7);
      for (const e of balancer.endpoints) e.weight = weight;
      balancer.update(balancer.endpoints, 0);
      const names = Array.from({ length: 700 }, () => pick(balancer).name);
      for (let i = 0; i < 7; i++) {
        const everySeventh = names.filter((_, at) => at % 7 === i);
        expect(new Set(everySeventh.slice(1)).size).toBe(1);
      }
      expect(new Set(names.slice(7, 14)).size).toBe(7);
    }
  });

  test("B41: weights are spread out, not served in runs: 5, 1, 1 gives no more than four in a row", () => {
    for (let seed = 0; seed < 50; seed++) {
      const balancer = build({ policy: "round-robin" }, 3, seed);
      nth(balancer.endpoints, 0).weight = 5;
      balancer.update(balancer.endpoints, 0);
      const names = Array.from({ length: 77 }, () => pick(balancer).name).slice(7);
      expect(names.filter((name) => name === "e0").length).toBe(50);
      expect(names.join("")).not.toContain("e0".repeat(5));
    }
  });

  test("B41: a pick looks at each endpoint a fixed number of times, however uneven the weights and however many have failed", () => {
    for (const policy of ["round-robin", "random", "least", "two-choices"] as const) {
      const balancer = build({ policy }, 60);
      let reads = 0;
      const counted = balancer.endpoints.map((e, i) => {
        e.weight = i === 0 ? 1e12 : 1e-12;
        for (let n = 0; n < 1000; n++) balancer.observe(e, 1, "failed", 0);
        return new Proxy(e, {
          get(target, key) {
            reads++;
            return Reflect.get(target, key);
          },
        });
      });
      balancer.update(counted, 0);
      reads = 0;
      for (let i = 0; i < 100; i++) expect(pick(balancer)).toBeDefined();
      expect(reads / 100).toBeLessThan(60 * 20);
    }
  });

  test("B43: with every endpoint failing, each pick still finds one", () => {
    for (const policy of ["round-robin", "random", "least", "two-choices"] as const) {
      const balancer = build({ policy }, 5);
      for (const e of balancer.endpoints)
        for (let i = 0; i < 10_000; i++) balancer.observe(e, 1, "failed", i);
      expect(Math.min(...shares(balancer, 10_000))).toBeGreaterThan(0.1);
    }
  });
});

describe("defects seen in proxies", () => {
  test("4 (linkerd2 11669): retries do not return to the one of three that fails at once", () => {
    const failing = { failRatio: 1 };
    const steady = { service: "constant", meanMs: 100, workers: 100 } as const;
    const fleet = new Fleet({
      balance: {},
      servers: servers(3, failing, steady),
      ratePerSec: 100,
      seed: 2,
      maxRetries: 1,
    });
    fleet.run(5);
    const { failed, shareRatios } = fleet.run(60);
    expect(failed).toBe(0);
    expect(shareRatios[0]).toBeLessThan(0.02);
  });

  test.each(["least", "two-choices"] as const)(
    "6: with %s and fifty requests under way on three warm endpoints, a new one gets no more than twice a fair share before its first answer",
    (policy) => {
      const balancer = build({ policy }, 3);
      for (const e of balancer.endpoints) {
        for (let i = 0; i < 20; i++) balancer.observe(e, 100, "win", i);
        e.outstanding = 17;
        e.waiting = 17;
        e.waitingSinceSumMs = 17 * 50;
      }
      const fresh = new Endpoint({ name: "fresh" });
      balancer.update([...balancer.endpoints, fresh], 100);
      for (let i = 0; i < 50; i++) {
        // One ends, one arrives: fifty stay under way.
        const oldest = nth(balancer.endpoints, i % 3);
        if (oldest.outstanding > 0) oldest.outstanding--;
        const e = pick(balancer, 100 + i);
        e.outstanding++;
        if (e === fresh) {
          e.waiting++;
          e.waitingSinceSumMs += 100 + i;
        }
      }
      expect(fresh.outstanding).toBeGreaterThan(3);
      expect(fresh.outstanding).toBeLessThan(25);
    },
  );

  test("8: an endpoint that was slow for ten seconds and is fine again is sampled again, with two of them", () => {
    const fleet = new Fleet({
      balance: {},
      servers: servers(2, { meanMs: 50, service: "constant" }, { service: "constant" }),
      ratePerSec: 50,
      seed: 4,
    });
    fleet.run(10);
    expect(fleet.run(5).shareRatios[0]).toBeLessThan(0.15);
    fleet.change("s0", { service: "constant" });
    fleet.run(30);
    expect(fleet.run(5).shareRatios[0]).toBeGreaterThan(0.25);
  });

  test("10 (ingress-nginx 4023): fifty clients that start together do not send their first rounds to the same endpoint", () => {
    const loads = Array.from({ length: 10 }, () => 0);
    for (
      let round = 0,
        clients = Array.from({ length: 50 }, (_, seed) =>
          build({ policy: "round-robin" }, 10, seed),
        );
      round < 10;
      round++
    ) {
      const counts = loads.map(() => 0);
      for (const client of clients) {
        const at = client.endpoints.indexOf(pick(client));
        counts[at] = (counts[at] ?? 0) + 1;
      }
      expect(Math.max(...counts)).toBeLessThan(15);
    }
  });

  test("11 (envoy 19437, 26290): a new endpoint gets some traffic at once, and nobody else gets more for it", () => {
    for (const policy of ["round-robin", "random", "least", "two-choices"] as const) {
      const fleet = new Fleet({
        balance: { policy },
        servers: servers(4),
        ratePerSec: 1000,
        seed: 5,
      });
      fleet.run(15);
      fleet.setServers({ s0: {}, s1: {}, s2: {}, s3: {}, s4: {} });
      const after = fleet.run(10);
      expect(after.shareRatios[4]).toBeGreaterThan(0.15);
      expect(Math.max(...after.shareRatios)).toBeLessThan(0.25);
    }
  });

  test("13 (envoy 35935): clients that share a stale view herd less with two choices than with a scan", () => {
    const busiest = (policy: "least" | "two-choices") => {
      const counts = new Map<string, number>();
      for (let seed = 0; seed < 100; seed++) {
        const balancer = build({ policy }, 10, seed);
        for (const [i, e] of balancer.endpoints.entries())
          balancer.observe(e, i === 4 ? 9 : 10, "win", 0);
        const { name } = pick(balancer);
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      return Math.max(...counts.values());
    };
    expect(busiest("least")).toBe(100);
    expect(busiest("two-choices")).toBeLessThan(35);
  });
});
