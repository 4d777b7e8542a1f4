import { describe, expect, test } from "vitest";
import { seededRng } from "../core/rng.ts";
import { cliffAt } from "./cliff.ts";
import { empirical } from "./empirical.ts";
import { empiricalFromLaw } from "./empirical-sources.ts";
import { planHedge } from "./hedge-plan.ts";
import { hedgedRequestLaw } from "./hedged-law.ts";
import { exponentialLaw, stalledLaw, uniformLaw } from "./known-laws.ts";
import { latencyQuantile } from "./latency-law.ts";
import { predictQuantile } from "./prediction.ts";
import { serialChain } from "./serial-chain.ts";

/** 5 to 15 ms, and a second more for one call in a hundred. */
function stalledLog(size: number, seed: number) {
  const rng = seededRng(seed);
  return empirical(
    Array.from({ length: size }, () => 5 + 10 * rng.next() + (rng.next() < 0.01 ? 1_000 : 0)),
  );
}
const stalled = stalledLaw(uniformLaw({ fromMs: 5, toMs: 15 }), {
  ratio: 0.01,
  fromMs: 1_000,
  toMs: 1_000,
});

describe("a plan for a fan-out of a hundred", () => {
  const plan = planHedge({ latency: stalledLog(50_000, 1), fanOut: 100, withinMs: 60 });

  test("predicts the request's percentiles with and without a hedge", () => {
    const [none, delay] = plan.rows;
    expect(none?.predictions[0]?.latencyMs).toBeCloseTo(1_008, 0);
    expect(delay?.delayMs).toBeCloseTo(14.6, 1);
    expect(delay?.extraRatio).toBeLessThanOrEqual(0.05);
    expect(delay?.predictions[0]?.latencyMs).toBeCloseTo(22.7, 0);
    expect(plan.proposed.kind).not.toBe("no-hedge");
  });

  test("says how many leaves each way would bear", () => {
    const [none, delay, best] = plan.rows;
    expect(none?.maxFanOut).toBeLessThanOrEqual(1);
    expect(delay?.maxFanOut).toBeGreaterThan(80);
    expect(best?.maxFanOut).toBeGreaterThanOrEqual(80);
  });

  test("warns of the cliff on which the p99 stands", () => {
    expect(plan.cliffs.map((cliff) => cliff.quantile)).toContain(0.99);
  });
});

test("a plan without gain proposes no hedge", () => {
  const constant = empirical(Array.from({ length: 1_000 }, () => 5));
  const plan = planHedge({ latency: constant, loadRatio: 0.7 });
  expect(plan.proposed).toMatchObject({ kind: "no-hedge", extraRatio: 0 });
  expect(plan.load).toMatchObject({ isSafe: true, resultingRatio: 0.7 });
});

test("slowness that all replicas share makes no hedge worth its load", () => {
  const plan = planHedge({ latency: stalledLog(20_000, 2), fanOut: 100, replicaCorrelation: 1 });
  expect(plan.proposed.kind).toBe("no-hedge");
});

describe("pairs of copies", () => {
  function pairsOf(correlation: number) {
    const rng = seededRng(8);
    const body = (): number => 3 + 5 * rng.next();
    const pairs = Array.from({ length: 20_000 }, () => {
      const first = rng.next() < 0.02;
      const second = rng.next() < correlation ? first : rng.next() < 0.02;
      return { primaryMs: body() + (first ? 60 : 0), backupMs: body() + (second ? 60 : 0) };
    });
    return { latency: empirical(pairs.map((pair) => pair.primaryMs)), pairs, fanOut: 10 };
  }

  test("tell how much slowness the replicas share, wherever it begins", () => {
    const plan = planHedge(pairsOf(0.3));
    expect(plan.replicaCorrelation).toBeGreaterThan(0.24);
    expect(plan.replicaCorrelation).toBeLessThan(0.36);
  });

  test("of independent replicas do not invent a shared cause", () => {
    const plan = planHedge(pairsOf(0));
    expect(plan.replicaCorrelation).toBeLessThan(0.02);
    expect(plan.proposed.kind).not.toBe("no-hedge");
  });

  test("are believed less than what the user says", () => {
    expect(planHedge({ ...pairsOf(0.3), replicaCorrelation: 0 }).replicaCorrelation).toBe(0);
  });
});

test("slowness that all leaves share is not mended by a hedge", () => {
  const latency = stalledLog(50_000, 3);
  const late = (leafCorrelation: number): number =>
    hedgedRequestLaw(latency, { fanOut: 100, delayMs: 14.6, leafCorrelation }).survival(900);
  expect(late(0)).toBeCloseTo(0.01, 2);
  // All of the 1 % is one shock: without a hedge as with it 1 % of the requests are late.
  expect(late(1)).toBeCloseTo(0.01, 2);
  expect(late(0.5)).toBeCloseTo(0.0075, 2);
  const plan = planHedge({ latency, fanOut: 100, leafCorrelation: 0.5, withinMs: 60 });
  expect(plan.rows[0]?.lateRatio).toBeCloseTo(0.4, 1);
});

describe("intervals of predictions", () => {
  test("hold the truth about 95 times in 100, hedged or not", () => {
    const law = exponentialLaw(10);
    const hedges = [
      { fanOut: 10, delayMs: Number.POSITIVE_INFINITY },
      { fanOut: 10, delayMs: 30 },
    ];
    for (const hedge of hedges) {
      const truth = latencyQuantile(hedgedRequestLaw(law, hedge), 0.9);
      let held = 0;
      for (let seed = 0; seed < 200; seed++) {
        const rng = seededRng(seed);
        const log = empirical(Array.from({ length: 2_000 }, () => -10 * Math.log(1 - rng.next())));
        const { low, high } = predictQuantile(log, hedge, 0.9);
        if (low <= truth && truth <= (high ?? Number.POSITIVE_INFINITY)) held++;
      }
      expect(held, JSON.stringify(hedge)).toBeGreaterThanOrEqual(182);
      expect(held, JSON.stringify(hedge)).toBeLessThanOrEqual(199);
    }
  });

  test("have no upper end, and the figure no support, where the log is too short", () => {
    const log = stalledLog(1_000, 4);
    const none = { fanOut: 100, delayMs: Number.POSITIVE_INFINITY };
    expect(predictQuantile(log, none, 0.999)).toMatchObject({
      high: undefined,
      isSupported: false,
    });
    expect(predictQuantile(log, none, 0.5)).toMatchObject({ isSupported: true });
  });
});

test("a cliff is where a few slow calls more move a percentile far, and not in a smooth tail", () => {
  const law = hedgedRequestLaw(stalled, { fanOut: 100, delayMs: 14.6 });
  expect(cliffAt(law, 0.01)).toBeDefined();
  expect(cliffAt(law, 0.5)).toBeUndefined();
  expect(cliffAt(exponentialLaw(1), 0.01)).toBeUndefined();
});

describe("calls one after another", () => {
  const one = empiricalFromLaw(exponentialLaw(1), 2_000);

  test("take the law of the sum, not the sum of percentiles", () => {
    const three = serialChain([one, one, one]);
    // Erlang of three: the p99 of the sum is 8.406; three p99s add to 13.8.
    expect(Math.abs(three.quantile(0.99) / 8.406 - 1)).toBeLessThan(0.01);
    expect(Math.abs(three.quantile(0.5) / 2.674 - 1)).toBeLessThan(0.01);
    expect(three.meanMs).toBeCloseTo(3 * one.meanMs, 2);
  });

  test("of one stage are that stage", () => {
    expect(Math.abs(serialChain([one]).quantile(0.9) / one.quantile(0.9) - 1)).toBeLessThan(0.012);
  });

  test("keep an unknown tail unknown", () => {
    const known = empirical([1, 2]);
    const open = serialChain([
      known,
      empiricalFromLaw({ survival: (t) => (t < 5 ? 1 : 0.1) }, 200),
    ]);
    expect(open.quantile(0.95)).toBe(Number.POSITIVE_INFINITY);
    expect(open.beyondRatio).toBeCloseTo(0.1, 2);
  });

  test("without a stage are refused", () => {
    expect(() => serialChain([])).toThrow(/at least one stage/);
  });
});
