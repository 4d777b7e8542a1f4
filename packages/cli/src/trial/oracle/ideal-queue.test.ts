import { World } from "bobtail/sim";
import { expect, test } from "vitest";
import { type IdealFleet, runIdealQueue } from "./ideal-queue.ts";

const LAW = { meanMs: 10, slowFactor: 1 };
const NEVER = Number.POSITIVE_INFINITY;

/** 70 % load. */
function fleetOf(workers: number): IdealFleet {
  return { workers, ratePerSec: (workers * 0.7 * 1_000) / LAW.meanMs, law: LAW };
}

test("without hedges it is the simulator's one server with as many workers", () => {
  for (const workers of [4, 36]) {
    const fleet = fleetOf(workers);
    const ideal = runIdealQueue(fleet, { hedgeAfterMs: NEVER, requests: 200_000, seed: 1 });
    const simulated = new World({
      servers: [{ workers }],
      size: { kind: "exponential", meanMs: LAW.meanMs },
      arrivals: { kind: "poisson", ratePerSecond: fleet.ratePerSec },
      requests: 200_000,
      policy: { retry: { max: 0 } },
      seed: 2,
    }).run();
    expect(ideal.extraCount).toBe(0);
    for (const quantile of [0.5, 0.9, 0.99]) {
      const ratio = ideal.latency.quantile(quantile) / simulated.latency.quantile(quantile);
      expect(ratio).toBeGreaterThan(0.96);
      expect(ratio).toBeLessThan(1.04);
    }
  }
});

test("requests wait as long as Erlang's formula says", () => {
  const { latency } = runIdealQueue(fleetOf(4), {
    hedgeAfterMs: NEVER,
    requests: 400_000,
    seed: 3,
  });
  // Offered load 2.8 on 4 workers: P(wait) = 0.4287, mean wait = P(wait) x 10 / (4 - 2.8).
  const waitMs = latency.mean / 1_000 - LAW.meanMs;
  expect(waitMs / ((0.4287 * 10) / 1.2)).toBeCloseTo(1, 1);
});

test("where nothing waits, a hedge gives the tail of two draws: P(T > t) = exp(-t/m) exp(-(t-d)/m)", () => {
  const hedgeAfterMs = -LAW.meanMs * Math.log(0.05);
  const fleet = { ...fleetOf(1_000), ratePerSec: 1_000 };
  const { latency, extraCount } = runIdealQueue(fleet, {
    hedgeAfterMs,
    requests: 300_000,
    seed: 4,
  });
  expect(extraCount / latency.count / 0.05).toBeCloseTo(1, 1);
  const exactMs = (-LAW.meanMs * Math.log(0.01) + hedgeAfterMs) / 2;
  expect(latency.quantile(0.99) / 1_000 / exactMs).toBeCloseTo(1, 1);
});

test("a second copy of a slow kind of request is as slow by chance as the first", () => {
  const fleet: IdealFleet = {
    workers: 1_000,
    ratePerSec: 1_000,
    law: LAW,
    kinds: [{ shareRatio: 1, factor: 10 }],
  };
  const { latency } = runIdealQueue(fleet, { hedgeAfterMs: 0, requests: 100_000, seed: 5 });
  // The lesser of two exponentials of mean 100 ms.
  expect(latency.mean / 1_000 / 50).toBeCloseTo(1, 1);
});

test("the same seed gives the same run", () => {
  const plan = { hedgeAfterMs: 25, requests: 20_000, seed: 6 };
  const [a, b] = [runIdealQueue(fleetOf(8), plan), runIdealQueue(fleetOf(8), plan)];
  expect([a.extraCount, a.latency.quantile(0.999)]).toEqual([
    b.extraCount,
    b.latency.quantile(0.999),
  ]);
});
