import { describe, expect, test } from "vitest";
import { nth } from "../core/assert.ts";
import { seededRng } from "../core/rng.ts";
import { Attempt } from "./attempt.ts";
import { Fleet, quantileMs, servers } from "./balancer-contract.testbed.ts";
import { Call } from "./call.ts";
import { createBalancer } from "./create-balancer.ts";
import { Endpoint } from "./endpoint.ts";
import type { BalanceOptions, BalancePolicy, LoadSignal } from "./options.ts";

const BLIND: readonly BalancePolicy[] = ["round-robin", "random"];
const AWARE: readonly BalancePolicy[] = ["least", "two-choices"];
const SIGNALS: readonly LoadSignal[] = ["outstanding", "work", "peak-ewma"];
const CLASS = { key: "any", delayMs: Number.POSITIVE_INFINITY, medianMs: 0 };

/** Ten servers of four workers, 10 ms a request: 4,000 a second is all they can do. */
const RATE_PER_SEC = 2800;

function balancerOf(balance: BalanceOptions, names: readonly string[], perEndpoint = 100) {
  const balancer = createBalancer({ ...balance, perEndpoint }, seededRng(7));
  const endpoints = names.map((name) => new Endpoint({ name }));
  balancer.update(endpoints, 0);
  return { balancer, endpoints };
}

/** Attempts of one call, picked one after the other and all still running. */
function pickMany(
  balancer: ReturnType<typeof createBalancer>,
  kinds: readonly ("primary" | "hedge" | "retry")[],
): (string | undefined)[] {
  const call = new Call(CLASS, undefined);
  return kinds.map((kind) => {
    const e = balancer.pick(call, kind, 0);
    if (e === undefined) return undefined;
    call.last = new Attempt(call, e, kind, 0);
    call.launched++;
    e.outstanding++;
    return e.name;
  });
}

for (const policy of BLIND) {
  contract({ policy, load: "outstanding" });

  test(`${policy} decides the same whatever the load signal is`, () => {
    const picksOn = (load: LoadSignal) =>
      new Fleet({ balance: { policy, load }, servers: servers(5), ratePerSec: 1000, seed: 3 }).run(
        2,
      );
    expect(picksOn("work")).toEqual(picksOn("outstanding"));
    expect(picksOn("peak-ewma")).toEqual(picksOn("outstanding"));
  });
}
for (const policy of AWARE) {
  for (const load of SIGNALS) contract({ policy, load });
}

/** What holds for every policy, whatever it compares. */
function contract(balance: { policy: BalancePolicy; load: LoadSignal }): void {
  const isAware = AWARE.includes(balance.policy);
  const fleet = (options: Partial<ConstructorParameters<typeof Fleet>[0]> = {}): Fleet =>
    new Fleet({ balance, servers: servers(10), ratePerSec: RATE_PER_SEC, seed: 1, ...options });

  describe(`${balance.policy} on ${balance.load}`, () => {
    test("equal endpoints get equal shares", () => {
      const { shareRatios } = fleet().run(20);
      expect(Math.min(...shareRatios)).toBeGreaterThan(0.09);
      expect(Math.max(...shareRatios)).toBeLessThan(0.11);
    });

    test("the copies of one call go to distinct endpoints, and a hedge finds none when all are tried", () => {
      const { balancer } = balancerOf(balance, ["a", "b", "c"]);
      for (let i = 0; i < 50; i++) {
        const names = pickMany(balancer, ["primary", "hedge", "retry", "hedge"]);
        expect(new Set(names.slice(0, 3)).size).toBe(3);
        expect(names[3]).toBe(undefined);
        for (const e of balancer.endpoints) e.outstanding = 0;
      }
    });

    test("a retry may repeat an endpoint once all are tried; a virtual one may always be repeated", () => {
      const { balancer, endpoints } = balancerOf(balance, ["a", "b"]);
      expect(pickMany(balancer, ["primary", "retry", "retry"])[2]).toMatch(/^[ab]$/);
      balancer.update([nth(endpoints, 0)], 0);
      expect(pickMany(balancer, ["primary", "hedge"])).toEqual(["a", undefined]);
      nth(endpoints, 0).virtual = true;
      expect(pickMany(balancer, ["primary", "hedge"])).toEqual(["a", "a"]);
    });

    test("without endpoints there is no pick, with one there is only that", () => {
      const { balancer } = balancerOf(balance, []);
      expect(pickMany(balancer, ["primary", "retry"])).toEqual([undefined, undefined]);
      balancer.update([new Endpoint({ name: "only" })], 0);
      expect(pickMany(balancer, ["primary"])).toEqual(["only"]);
    });

    test("a full endpoint is never picked, and the last free one always is", () => {
      const names = Array.from({ length: 20 }, (_, i) => `e${i}`);
      const { balancer, endpoints } = balancerOf(balance, names, 3);
      for (const e of endpoints) e.outstanding = 3;
      expect(pickMany(balancer, ["primary", "retry"])).toEqual([undefined, undefined]);
      nth(endpoints, 13).outstanding = 2;
      expect(pickMany(balancer, ["primary", "retry"])).toEqual(["e13", undefined]);
    });

    test("survivors of an update are the same objects with what was learnt of them", () => {
      const f = fleet();
      f.run(5);
      const before = f.endpoint("s3");
      const { latencyMs, picks, outstanding } = before;
      f.setServers({ s3: {}, s4: {}, s5: {}, fresh: {} });
      expect(f.endpoint("s3")).toBe(before);
      expect([before.latencyMs, before.picks, before.outstanding]).toEqual([
        latencyMs,
        picks,
        outstanding,
      ]);
      expect([before.listed, nth(f.clients, 0).balancer.endpoints.length]).toEqual([true, 4]);
    });

    test("an endpoint removed in mid-run ends what it has and gets nothing new", () => {
      const f = fleet({ ratePerSec: 2000 });
      f.run(5);
      const removed = f.endpoint("s0");
      f.setServers(Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`s${i + 1}`, {}])));
      const { picks, failed } = f.run(5);
      expect([picks[0], failed, removed.outstanding, removed.listed]).toEqual([0, 0, 0, false]);
    });

    test("an endpoint added in mid-run takes its share at once and is not flooded", () => {
      const f = fleet({ servers: servers(9), ratePerSec: 2500 });
      f.run(5);
      f.setServers(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`s${i}`, {}])));
      const first = f.run(0.1);
      const second = f.run(5);
      expect(first.shareRatios[9]).toBeGreaterThan(0.04);
      expect(first.shareRatios[9]).toBeLessThan(0.25);
      expect(second.shareRatios[9]).toBeGreaterThan(0.08);
      expect(second.shareRatios[9]).toBeLessThan(0.12);
    });

    if (isAware) {
      test("an endpoint five times slower gets less, and the tail does not show it as round robin's does", () => {
        const f = fleet({ servers: servers(10, { meanMs: 50 }), ratePerSec: 2576 });
        f.run(5);
        const stretch = f.run(30);
        expect(stretch.shareRatios[0]).toBeLessThan(balance.load === "peak-ewma" ? 0.015 : 0.04);
        expect(quantileMs(stretch, 0.99)).toBeLessThan(balance.load === "peak-ewma" ? 60 : 80);
      });

      test("an endpoint that was slow for half a minute has its share back soon after", () => {
        const f = fleet({ servers: servers(10, { meanMs: 50 }), ratePerSec: 2576 });
        f.run(30);
        f.change("s0", {});
        f.run(15);
        expect(f.run(5).shareRatios[0]).toBeGreaterThan(0.05);
      });
    }

    test("an endpoint that fails half its requests at once gets far less than its share", () => {
      const f = fleet({ servers: servers(10, { failRatio: 0.5 }), ratePerSec: 2500 });
      f.run(5);
      const { shareRatios } = f.run(20);
      expect(shareRatios[0]).toBeLessThan(isAware ? 0.005 : 0.02);
    });

    test("an endpoint that fails everything is only probed, and is back within seconds of its cure", () => {
      const f = fleet({ servers: servers(10, { failRatio: 1 }), ratePerSec: 2500 });
      f.run(10);
      const sick = f.run(50);
      expect(sick.picks[0]).toBeGreaterThan(0);
      expect(sick.shareRatios[0]).toBeLessThan(0.005);
      f.change("s0", {});
      f.run(20);
      expect(f.run(5).shareRatios[0]).toBeGreaterThan(0.06);
    });

    test("errors of 1 % and of 10 % on every endpoint leave latencies and shares where they were", () => {
      const measure = (failRatio: number): { p50Ms: number; p99Ms: number } => {
        const all: number[] = [];
        for (const seed of [1, 2]) {
          const ratePerSec = RATE_PER_SEC / (1 - failRatio);
          const f = fleet({ servers: servers(10, {}, { failRatio }), ratePerSec, seed });
          f.run(3);
          const { latenciesMs, shareRatios } = f.run(8);
          all.push(...latenciesMs);
          expect(Math.max(...shareRatios)).toBeLessThan(0.12);
        }
        all.sort((a, b) => a - b);
        const { length } = all;
        return { p50Ms: nth(all, length >> 1), p99Ms: nth(all, Math.floor(length * 0.99)) };
      };
      const calm = measure(0);
      for (const failRatio of [0.01, 0.1]) {
        const failing = measure(failRatio);
        expect(failing.p50Ms / calm.p50Ms).toBeLessThan(1.05);
        expect(failing.p99Ms / calm.p99Ms).toBeLessThan(1.05);
      }
    });

    test("when every endpoint fails everything nobody is starved and picking goes on", () => {
      const f = fleet({ servers: servers(10, {}, { failRatio: 1 }) });
      const { shareRatios, requests, failed } = f.run(20);
      expect(failed).toBe(requests);
      expect(Math.min(...shareRatios)).toBeGreaterThan(0.05);
      expect(Math.max(...shareRatios)).toBeLessThan(0.2);
    });

    test("static weights give proportional shares while the fleet is idle", () => {
      const weights = [1, 2, 3, 4];
      const f = fleet({
        servers: weights.map((weight) => ({ weight, meanMs: 1 })),
        ratePerSec: 20,
      });
      const { shareRatios } = f.run(600);
      for (const [i, weight] of weights.entries()) {
        expect(shareRatios[i]).toBeGreaterThan((weight / 10) * 0.7);
        expect(shareRatios[i]).toBeLessThan((weight / 10) * 1.4);
      }
    });

    test("static weights give proportional shares when they are the capacities of a busy fleet", () => {
      const weights = [1, 1, 2, 4];
      const mixed = weights.map((weight) => ({ weight, workers: 4 * weight }));
      const { shareRatios } = fleet({ servers: mixed, ratePerSec: 2560 }).run(30);
      for (const [i, weight] of weights.entries()) {
        expect(shareRatios[i]).toBeGreaterThan((weight / 8) * 0.8);
        expect(shareRatios[i]).toBeLessThan((weight / 8) * 1.2);
      }
    });

    test("fifty clients of one list do not all begin with the same endpoint", () => {
      const counts = new Map<string, number>();
      for (let seed = 0; seed < 50; seed++) {
        const balancer = createBalancer({ ...balance, perEndpoint: 100 }, seededRng(seed));
        balancer.update(
          Array.from("abcdefghij", (name) => new Endpoint({ name })),
          0,
        );
        const name = pickMany(balancer, ["primary"])[0] ?? "none";
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      expect(counts.size).toBeGreaterThan(7);
      expect(Math.max(...counts.values())).toBeLessThan(13);
    });

    test("the same seed gives the same picks", () => {
      expect(fleet().run(2)).toEqual(fleet().run(2));
    });
  });
}
