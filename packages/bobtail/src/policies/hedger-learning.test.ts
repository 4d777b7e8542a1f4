import { describe, expect, test } from "vitest";
import { createHedger } from "./create-hedger.ts";
import { type Law, lateRatio, live, lognormal } from "./hedged-world.testbed.ts";
import { createTokenBudget } from "./token-budget.ts";

describe("what it learns although hedges hide it", () => {
  const law = lognormal(10, 20);

  test("a p95 delay settles at 5 % hedges although most primaries beyond it are superseded", () => {
    for (const seed of [1, 2, 3]) {
      const hedger = createHedger({ afterMs: { quantile: 0.95 } }, 2);
      const ratio = lateRatio(live({ hedger, law, seconds: 120, seed }));
      expect(ratio).toBeGreaterThan(0.045);
      expect(ratio).toBeLessThan(0.055);
    }
  });

  test("learning only from the copy that finished first would hedge more than twice as much", () => {
    const hedger = createHedger({ afterMs: { quantile: 0.95 } }, 2);
    expect(lateRatio(live({ hedger, law, seconds: 120, record: "finished" }))).toBeGreaterThan(0.1);
  });

  test("calls of 5 ms of which 5 % take ten times as long, budget 0.1: auto waits 10.1 ms and hedges 7 %", () => {
    const usual = lognormal(5, 2);
    const stalled: Law = (rng) => usual(rng, 0) * (rng.next() < 0.05 ? 10 : 1);
    for (const seed of [1, 2, 3]) {
      const hedger = createHedger({ afterMs: "auto" }, 0.1);
      const tally = live({ hedger, law: stalled, seconds: 60, callsPerSecond: 4000, seed });
      const delayMs = hedger.classOf("GET /").delayMs;
      expect(Math.abs(delayMs / 10.1 - 1)).toBeLessThan(0.05);
      expect(lateRatio(tally)).toBeGreaterThan(0.065);
      expect(lateRatio(tally)).toBeLessThan(0.075);
    }
  });

  test("auto follows the budget: the expected copies are 0.7 of it, also with up to three copies", () => {
    for (const extraRatio of [0.02, 0.05, 0.2, 0.6]) {
      const hedger = createHedger({ afterMs: "auto" }, extraRatio);
      const ratio = lateRatio(live({ hedger, law, seconds: 60 }));
      expect(ratio / (0.7 * extraRatio)).toBeGreaterThan(0.85);
      expect(ratio / (0.7 * extraRatio)).toBeLessThan(1.15);
    }
    const many = createHedger({ afterMs: "auto", max: 3 }, 0.6);
    // p + p^2 + p^3 = 0.42
    expect(lateRatio(live({ hedger: many, law, seconds: 60 }))).toBeCloseTo(0.3, 1);
  });

  test("when too much is censored to know the quantile, the delay does not fall", () => {
    const hedger = createHedger({ afterMs: { quantile: 0.99 } }, 0.1);
    const cls = hedger.classOf("x");
    for (let i = 0; i < 1000; i++) hedger.record(cls, 50, false, i);
    const before = hedger.delayMs(cls, 1000);
    for (let i = 0; i < 100_000; i++) hedger.record(cls, 20, true, 1000 + i);
    expect(hedger.delayMs(cls, 101_000)).toBeGreaterThanOrEqual(before);
  });

  test("when nothing was ever answered, the delay is the longest time that anything was waited for", () => {
    const hedger = createHedger({ afterMs: { quantile: 0.9 } }, 0.1);
    const cls = hedger.classOf("x");
    for (let i = 0; i < 200; i++) hedger.record(cls, i % 2 === 0 ? 20 : 300, true, 0);
    expect(hedger.delayMs(cls, 0)).toBeGreaterThanOrEqual(300);
    expect(hedger.delayMs(cls, 0)).toBeLessThan(310);
  });
});

describe("B34: everything becomes 200 ms slower at once", () => {
  const base = lognormal(10, 5);
  const law: Law = (rng, nowMs) => base(rng, nowMs) + (nowMs >= 20_000 ? 200 : 0);

  test("extra load stays within the budget throughout, and the delay goes up with the latency", () => {
    const hedger = createHedger({ afterMs: "auto" }, 0.1);
    const budget = createTokenBudget({ extraRatio: 0.1, burstCount: 10 }, 0);
    live({ hedger, law, budget, seconds: 20 });
    const before = hedger.classOf("GET /").delayMs;
    const shock = live({ hedger, law, budget, seconds: 5, fromMs: 20_000, seed: 2 });
    expect(shock.hedges).toBeLessThanOrEqual(10 + 0.1 * shock.calls);
    const after = live({ hedger, law, budget, seconds: 60, fromMs: 25_000, seed: 3 });
    expect(lateRatio(after)).toBeLessThan(0.09);
    expect(before).toBeLessThan(25);
    expect(hedger.classOf("GET /").delayMs).toBeGreaterThan(205);
    expect(hedger.classOf("GET /").delayMs).toBeLessThan(240);
  });

  test("with a floor, the delay stays below four floors, so that copies are not put off for ever", () => {
    const hedger = createHedger({ afterMs: "auto", floorMs: 20 }, 0.1);
    const budget = createTokenBudget({ extraRatio: 0.1 }, 0);
    const tally = live({ hedger, law, budget, seconds: 60 });
    expect(hedger.classOf("GET /").delayMs).toBe(80);
    expect(tally.hedges).toBeLessThanOrEqual(10 + 0.1 * tally.calls);
  });

  test("when the latency is as before, so is the delay", () => {
    const hedger = createHedger({ afterMs: "auto" }, 0.1);
    const slowAWhile: Law = (rng, nowMs) => base(rng, nowMs) + (nowMs % 100_000 < 40_000 ? 0 : 200);
    live({ hedger, law: slowAWhile, seconds: 40 });
    const before = hedger.classOf("GET /").delayMs;
    live({ hedger, law: slowAWhile, seconds: 100, fromMs: 40_000 });
    expect(hedger.classOf("GET /").delayMs / before).toBeGreaterThan(0.93);
    expect(hedger.classOf("GET /").delayMs / before).toBeLessThan(1.07);
  });
});
