import { commonShockShare, empirical } from "bobtail/plan";
import { extraRatio, quantileMs, type ServiceOptions, World } from "bobtail/sim";
import { expect, test } from "vitest";
import { type CorrelatedSetup, runCorrelated } from "./correlated-run.ts";

/** Slow in one call of twenty. */
const VALUES_MS = Array.from({ length: 10_000 }, (_, i) => (i < 9_500 ? 5 + i / 5_000 : 50 + i));
const UNLIMITED = { outstanding: 1_000_000, perEndpoint: 1_000_000 };
const HEDGED: ServiceOptions = {
  hedge: { afterMs: 10, max: 1 },
  budget: { extraRatio: 1 },
  limit: UNLIMITED,
};
const BASE: CorrelatedSetup = {
  policy: { limit: UNLIMITED },
  valuesMs: VALUES_MS,
  servers: 20,
  leaves: 1,
  requests: 60_000,
  ratePerSecond: 400,
  replicaCorrelation: 0,
  leafCorrelation: 0,
  seed: 1,
};

function slowShare(change: Partial<CorrelatedSetup>): number {
  const { latenciesMs } = runCorrelated({ ...BASE, ...change });
  return latenciesMs.filter((ms) => ms > 50).length / latenciesMs.length;
}

test("without a hedge a leaf has the log's latencies, whatever the correlation", () => {
  const log = empirical(VALUES_MS);
  for (const leafCorrelation of [0, 0.4, 1]) {
    const { latenciesMs } = runCorrelated({ ...BASE, leafCorrelation });
    const found = empirical(Array.from(latenciesMs));
    for (const tMs of [5.5, 6, 6.8, 50, 9_700])
      expect(Math.abs(found.survival(tMs) - log.survival(tMs))).toBeLessThan(0.01);
  }
});

test("leaves that are slow together are slow in as many requests as arithmetic says", () => {
  const leaves = 20;
  for (const leafCorrelation of [0, 0.4, 0.8]) {
    const shock = { slowShare: 0.05, shockShare: 0.05 * leafCorrelation, fanOut: leaves };
    const found = slowShare({ leaves, leafCorrelation, requests: 20_000 });
    expect(Math.abs(found - commonShockShare(shock))).toBeLessThan(0.02);
  }
});

test("a hedge mends neither what strikes the whole request nor what its copy meets too", () => {
  const hedged = (change: Partial<CorrelatedSetup>) => slowShare({ policy: HEDGED, ...change });
  expect(hedged({})).toBeLessThan(0.004);
  expect(Math.abs(hedged({ replicaCorrelation: 0.4 }) - 0.05 * 0.4)).toBeLessThan(0.004);
  expect(Math.abs(hedged({ leafCorrelation: 0.4 }) - 0.05 * 0.4)).toBeLessThan(0.004);
  expect(Math.abs(hedged({ replicaCorrelation: 1 }) - 0.05)).toBeLessThan(0.004);
});

test("without correlation it shows what the simulator's world shows", () => {
  const setup = { ...BASE, policy: HEDGED, leaves: 5, requests: 20_000 };
  const found = runCorrelated(setup);
  const world = new World({
    servers: [{ count: setup.servers, workers: "unlimited" }],
    size: { kind: "empirical", valuesMs: VALUES_MS },
    copies: "independent",
    leaves: setup.leaves,
    arrivals: { kind: "poisson", ratePerSecond: setup.ratePerSecond },
    requests: setup.requests,
    warmUpRatio: 0,
    policy: HEDGED,
  }).run();
  expect(Math.abs(found.hedges / found.calls / extraRatio(world) - 1)).toBeLessThan(0.05);
  for (const q of [0.5, 0.95]) {
    const ms = found.latenciesMs[Math.ceil(q * setup.requests) - 1] as number;
    expect(Math.abs(ms / quantileMs(world, q) - 1)).toBeLessThan(0.03);
  }
});

test("hedges of leaves that are slow together come at once, and a small bucket refuses most of them", () => {
  const policy = { ...HEDGED, budget: { extraRatio: 0.06, burstCount: 5 } };
  const refused = (leafCorrelation: number): number => {
    const run = runCorrelated({ ...BASE, policy, leaves: 20, requests: 5_000, leafCorrelation });
    return run.refused / (run.refused + run.hedges);
  };
  expect(refused(0.8)).toBeGreaterThan(1.5 * refused(0));
});

test("the same seed gives the same run", () => {
  const setup = { ...BASE, policy: HEDGED, leafCorrelation: 0.2, requests: 2_000 };
  expect(runCorrelated(setup)).toEqual(runCorrelated(setup));
  expect(runCorrelated({ ...setup, seed: 2 })).not.toEqual(runCorrelated(setup));
});
