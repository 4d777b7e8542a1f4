import { expect, test } from "vitest";
import type { ServiceOptions } from "../policies/options.ts";
import { quantileMs, shareOf } from "./result-views.ts";
import type { Fault } from "./scenario.ts";
import { World } from "./world.ts";

const HEDGED: ServiceOptions = {
  hedge: { afterMs: "auto" },
  budget: { extraRatio: 0.05 },
  retry: { max: 0 },
};

/** The fleet of docs/demo.md: ten servers of four workers, the first five times slower for as long as the fault lasts. */
function fleet(policy: ServiceOptions, fault: Fault, requests: number) {
  return new World({
    servers: [
      { workers: 4, faults: [fault] },
      { count: 9, workers: 4 },
    ],
    size: { kind: "exponential", meanMs: 10 },
    copies: "independent",
    arrivals: { kind: "poisson", ratePerSecond: 2576 },
    requests,
    policy,
    seed: 5,
  });
}

test("hedging does not make a slow server look fast: it gets less than without, and the tail is shorter than its service time", () => {
  const slow: Fault = { kind: "slow", atMs: 0, forMs: 1e9, factor: 5 };
  const hedged = fleet(HEDGED, slow, 100_000).run();
  const plain = fleet({ retry: { max: 0 } }, slow, 100_000).run();
  expect(shareOf(hedged, 0)).toBeLessThan(0.005);
  expect(shareOf(hedged, 0)).toBeLessThan(shareOf(plain, 0));
  expect(quantileMs(hedged, 0.99)).toBeLessThan(46);
  expect(quantileMs(hedged, 0.999)).toBeLessThan(62);
});

test("a server that was slow under hedging has its full share again within a minute", () => {
  const slow: Fault = { kind: "slow", atMs: 0, forMs: 10_000, factor: 5 };
  // One minute of traffic after the fault is 154,560 requests; a longer run minus the shorter one is what came after it.
  const until70s = fleet(HEDGED, slow, 180_320).run();
  const until90s = fleet(HEDGED, slow, 231_840).run();
  const started = (r: ReturnType<World["run"]>) => r.servers[0]?.startedCount ?? 0;
  const share =
    (started(until90s) - started(until70s)) / (until90s.attemptCount - until70s.attemptCount);
  expect(share).toBeGreaterThan(0.07);
});

test("a pause of the whole fleet does not keep hedges from the slow calls after it", () => {
  const pause: Fault = { kind: "pause", atMs: 1000, forMs: 400 };
  const world = new World({
    servers: [
      { workers: 4, slowdown: 5, faults: [pause] },
      { count: 9, workers: 4, faults: [pause] },
    ],
    size: { kind: "exponential", meanMs: 10 },
    copies: "independent",
    arrivals: { kind: "poisson", ratePerSecond: 2576 },
    requests: 46_000,
    warmUpRatio: 0.17,
    policy: HEDGED,
    seed: 1,
  });
  const r = world.run();
  expect(r.hedgeCount / r.callCount).toBeGreaterThan(0.015);
  expect(quantileMs(r, 0.999)).toBeLessThan(75);
});
