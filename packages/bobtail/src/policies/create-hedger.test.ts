import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Rng, seededRng } from "../core/rng.ts";
import type { Budget } from "./budget.ts";
import { createHedger } from "./create-hedger.ts";
import type { Hedger } from "./hedger.ts";
import type { HedgeOptions } from "./options.ts";
import { createTokenBudget } from "./token-budget.ts";

type Law = (rng: Rng, nowMs: number) => number;

function lognormal(meanMs: number, sdMs: number): Law {
  const variance = Math.log(1 + (sdMs / meanMs) ** 2);
  const mu = Math.log(meanMs) - variance / 2;
  return (rng) => {
    const radius = Math.sqrt(-2 * Math.log(1 - rng.next()));
    return Math.exp(mu + Math.sqrt(variance) * radius * Math.cos(2 * Math.PI * rng.next()));
  };
}

interface World {
  readonly hedger: Hedger;
  readonly law: Law;
  readonly seconds: number;
  readonly callsPerSecond?: number;
  readonly budget?: Budget;
  readonly key?: string;
  readonly seed?: number;
  readonly fromMs?: number;
  /** Whose latency is recorded: the primary's, as it should be, or that of whichever copy was first. */
  readonly record?: "primary" | "finished";
}

interface Tally {
  calls: number;
  hedges: number;
  /** Hedges sent by calls of the second half, when the delay has settled. */
  lateHedges: number;
}

/** Independent servers without queues; what is learnt is learnt when a call ends, in that order. */
function live(world: World): Tally {
  const { hedger, law, budget, record = "primary", callsPerSecond = 1000 } = world;
  const rng = seededRng(world.seed ?? 1);
  const cls = hedger.classOf(world.key ?? "GET /");
  const tally = { calls: Math.round(world.seconds * callsPerSecond), hedges: 0, lateHedges: 0 };
  const ends: { atMs: number; latencyMs: number; censored: boolean }[] = [];
  const fromMs = world.fromMs ?? 0;
  for (let i = 0; i < tally.calls; i++) {
    const nowMs = fromMs + (i * 1000) / callsPerSecond;
    for (let end = ends.at(-1); end !== undefined && end.atMs <= nowMs; end = ends.at(-1)) {
      ends.pop();
      budget?.deposit(end.atMs);
      hedger.record(cls, end.latencyMs, end.censored, end.atMs);
    }
    const delayMs = hedger.delayMs(cls, nowMs);
    let latencyMs = law(rng, nowMs);
    let atMs = nowMs + latencyMs;
    let censored = false;
    if (latencyMs > delayMs && (budget?.tryWithdraw("hedge", nowMs + delayMs) ?? true)) {
      tally.hedges++;
      if (i > tally.calls / 2) tally.lateHedges++;
      const backupMs = law(rng, nowMs);
      if (delayMs + backupMs < latencyMs) {
        censored = record === "primary";
        latencyMs = censored ? delayMs + backupMs : backupMs;
        atMs = nowMs + delayMs + backupMs;
      }
    }
    let place = ends.length;
    while (place > 0 && (ends[place - 1] as { atMs: number }).atMs < atMs) place--;
    ends.splice(place, 0, { atMs, latencyMs, censored });
  }
  return tally;
}

const lateRatio = ({ lateHedges, calls }: Tally): number => lateHedges / (calls / 2);

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

describe("no data, no hedge", () => {
  const adaptive: HedgeOptions[] = [{ afterMs: "auto" }, { afterMs: { quantile: 0.9 } }];

  test.each(adaptive)("%o: no copy before the class has minSamples primaries", (options) => {
    const hedger = createHedger({ ...options, minSamples: 50 }, 0.1);
    const cls = hedger.classOf("x");
    for (let i = 1; i <= 50; i++) {
      expect(hedger.delayMs(cls, i)).toBe(Number.POSITIVE_INFINITY);
      hedger.record(cls, 10, i % 7 === 0, i);
    }
    expect(hedger.delayMs(cls, 51)).toBeLessThan(11);
  });

  test("a class of one call in two seconds is hedged once it has enough of them", () => {
    const hedger = createHedger({ afterMs: "auto" }, 0.1);
    const law = lognormal(10, 5);
    live({ hedger, law, seconds: 190, callsPerSecond: 0.5 });
    expect(hedger.delayMs(hedger.classOf("GET /"), 190_000)).toBe(Number.POSITIVE_INFINITY);
    live({ hedger, law, seconds: 3600, callsPerSecond: 0.5, fromMs: 190_000 });
    expect(hedger.delayMs(hedger.classOf("GET /"), 3_790_000)).toBeLessThan(40);
  });

  test("after a pause the last delay holds for a quarter of an hour, then nothing is known", () => {
    const hedger = createHedger({ afterMs: "auto" }, 0.1);
    const cls = hedger.classOf("x");
    for (let i = 0; i < 500; i++) hedger.record(cls, 10, false, i);
    const learnt = hedger.delayMs(cls, 500);
    expect(hedger.delayMs(cls, 890_000)).toBe(learnt);
    expect(hedger.delayMs(cls, 901_000)).toBe(Number.POSITIVE_INFINITY);
    // The next samples start afresh: one of them does not bring the old estimate back.
    hedger.record(cls, 10, false, 901_000);
    expect(hedger.delayMs(cls, 901_000)).toBe(Number.POSITIVE_INFINITY);
    expect(cls.medianMs).toBe(0);
  });

  test("without hedge options nothing is hedged, and the median is learnt all the same", () => {
    const hedger = createHedger(undefined, undefined);
    const cls = hedger.classOf("x");
    for (let i = 0; i < 1000; i++) hedger.record(cls, 10 + (i % 100), false, i);
    expect([hedger.max, hedger.delayMs(cls, 1000)]).toEqual([0, Number.POSITIVE_INFINITY]);
    expect(cls.medianMs).toBeGreaterThan(58);
    expect(cls.medianMs).toBeLessThan(61);
  });

  test("auto on a budget that earns nothing never hedges; on one that affords every copy it waits the floor", () => {
    const never = createHedger({ afterMs: "auto" }, 0);
    const always = createHedger({ afterMs: "auto", floorMs: 3 }, 1.5);
    for (const hedger of [never, always])
      for (let i = 0; i < 500; i++) hedger.record(hedger.classOf("x"), 10, false, i);
    expect(never.delayMs(never.classOf("x"), 500)).toBe(Number.POSITIVE_INFINITY);
    expect(always.delayMs(always.classOf("x"), 500)).toBe(3);
  });
});

describe("the delay", () => {
  test("a fixed delay is in force from the first call on, whatever is learnt", () => {
    const hedger = createHedger({ afterMs: 12, max: 2 }, 0.1);
    const cls = hedger.classOf("x");
    expect([hedger.max, hedger.delayMs(cls, 0), cls.delayMs]).toEqual([2, 12, 12]);
    for (let i = 0; i < 1000; i++) hedger.record(cls, 500, i % 2 === 0, i);
    expect(hedger.delayMs(cls, 1000)).toBe(12);
    expect(hedger.delayMs(cls, 1e9)).toBe(12);
    expect(Math.abs(cls.medianMs / 500 - 1)).toBeLessThan(0.02);
  });

  test("where every call takes the same time, it is not below that time: none is hedged", () => {
    fc.assert(
      fc.property(fc.double({ min: 1.5, max: 9000, noNaN: true }), (latencyMs) => {
        const hedger = createHedger({ afterMs: { quantile: 0.5 } }, 0.1);
        const cls = hedger.classOf("x");
        for (let i = 0; i < 100; i++) hedger.record(cls, latencyMs, false, 0);
        expect(hedger.delayMs(cls, 0)).toBeGreaterThanOrEqual(latencyMs - 0.0005);
        expect(hedger.delayMs(cls, 0)).toBeLessThan(latencyMs * 1.017);
      }),
    );
  });

  test("a new estimate at most doubles it, or takes a fifth off", () => {
    const hedger = createHedger({ afterMs: { quantile: 0.9 } }, 0.1);
    const cls = hedger.classOf("x");
    const rng = seededRng(4);
    let nowMs = 0;
    let delayMs = Number.POSITIVE_INFINITY;
    let moves = 0;
    for (let i = 0; i < 20_000; i++) {
      nowMs += 10;
      const scale = Math.floor(nowMs / 40_000) % 2 === 0 ? 2 : 900;
      hedger.record(cls, scale * (1 + rng.next()), false, nowMs);
      const nextMs = hedger.delayMs(cls, nowMs);
      if (delayMs < Number.POSITIVE_INFINITY && nextMs !== delayMs) {
        moves++;
        expect(nextMs / delayMs).toBeLessThan(2.0001);
        expect(nextMs / delayMs).toBeGreaterThan(0.7999);
      }
      delayMs = nextMs;
    }
    expect(moves).toBeGreaterThan(20);
    expect(moves).toBeLessThan(450);
  });

  test("it keeps to the floor and the ceiling", () => {
    const fast = createHedger({ afterMs: "auto" }, 0.1);
    const slow = createHedger({ afterMs: "auto", ceilingMs: 40 }, 0.1);
    const far = createHedger({ afterMs: "auto" }, 0.1);
    for (let i = 0; i < 500; i++) {
      fast.record(fast.classOf("x"), 0.05, false, i);
      slow.record(slow.classOf("x"), 500, false, i);
      far.record(far.classOf("x"), 1e7, false, i);
    }
    expect(fast.delayMs(fast.classOf("x"), 500)).toBe(1);
    expect(slow.delayMs(slow.classOf("x"), 500)).toBe(40);
    expect(far.delayMs(far.classOf("x"), 500)).toBe(10_000);
  });

  test("reading it changes nothing, however often and for whatever time", () => {
    const steps = fc.array(fc.tuple(fc.nat(2000), fc.nat(200), fc.nat(3_000_000)), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(steps, (list) => {
        const read = createHedger({ afterMs: "auto", minSamples: 20 }, 0.1);
        const unread = createHedger({ afterMs: "auto", minSamples: 20 }, 0.1);
        let nowMs = 0;
        for (const [stepMs, latencyMs, readAheadMs] of list) {
          nowMs += stepMs;
          const aheadMs = nowMs + readAheadMs;
          read.delayMs(read.classOf("x"), aheadMs);
          read.record(read.classOf("x"), latencyMs, latencyMs > 150, nowMs);
          unread.record(unread.classOf("x"), latencyMs, latencyMs > 150, nowMs);
        }
        expect(read.delayMs(read.classOf("x"), nowMs)).toBe(
          unread.delayMs(unread.classOf("x"), nowMs),
        );
      }),
    );
  });

  test("NaN and negative latencies are passed over", () => {
    const hedger = createHedger({ afterMs: "auto" }, 0.1);
    const cls = hedger.classOf("x");
    for (let i = 0; i < 300; i++) {
      hedger.record(cls, 10, false, i);
      hedger.record(cls, i % 2 === 0 ? Number.NaN : -5, false, i);
    }
    expect(hedger.delayMs(cls, 300)).toBeGreaterThanOrEqual(10);
    expect(hedger.delayMs(cls, 300)).toBeLessThan(10.2);
  });
});

describe("classes", () => {
  test("cheap and dear calls do not mix", () => {
    const hedger = createHedger({ afterMs: { quantile: 0.95 } }, 1);
    live({ hedger, law: lognormal(2, 1), seconds: 20, key: "cheap" });
    live({ hedger, law: lognormal(200, 50), seconds: 20, key: "dear" });
    const [cheap, dear] = [hedger.classOf("cheap"), hedger.classOf("dear")];
    expect(hedger.delayMs(cheap, 20_000)).toBeLessThan(5);
    expect(hedger.delayMs(dear, 20_000)).toBeGreaterThan(250);
    expect(cheap.medianMs).toBeLessThan(2.1);
    expect(dear.medianMs).toBeGreaterThan(180);
  });

  test("a key has one class for ever; from the 33rd key on they share one", () => {
    const hedger = createHedger({ afterMs: "auto" }, 0.1);
    const first = Array.from({ length: 32 }, (_, i) => hedger.classOf(`route ${i}`));
    expect(new Set(first).size).toBe(32);
    expect(first.map((cls, i) => cls === hedger.classOf(`route ${i}`))).not.toContain(false);
    const later = Array.from({ length: 1000 }, (_, i) => hedger.classOf(`later ${i}`));
    expect(new Set(later).size).toBe(1);
    expect(later[0]?.key).toBe("_other");
    expect(hedger.classOf("_other")).toBe(later[0]);
  });
});

describe("options", () => {
  test.each([
    [{ afterMs: -1 }, "hedge.afterMs"],
    [{ afterMs: Number.NaN }, "hedge.afterMs"],
    [{ afterMs: Number.POSITIVE_INFINITY }, "hedge.afterMs"],
    [{ afterMs: { quantile: 95 } }, "hedge.afterMs"],
    [{ afterMs: { quantile: 0 } }, "hedge.afterMs"],
    [{ afterMs: "fast" as "auto" }, "hedge.afterMs"],
    [{ afterMs: undefined as unknown as "auto" }, "hedge.afterMs"],
    [{ afterMs: 10, max: 0 }, "hedge.max"],
    [{ afterMs: 10, max: 5 }, "hedge.max"],
    [{ afterMs: 10, max: 1.5 }, "hedge.max"],
    [{ afterMs: "auto" as const, floorMs: -1 }, "hedge.floorMs"],
    [{ afterMs: "auto" as const, floorMs: 10, ceilingMs: 9 }, "hedge.ceilingMs"],
    [{ afterMs: "auto" as const, minSamples: 19 }, "hedge.minSamples"],
  ])("%o is refused by name", (options: HedgeOptions, name) => {
    expect(() => createHedger(options, 0.1)).toThrow(`${name}: expected `);
  });

  test("a ratio out of range is refused here too", () => {
    expect(() => createHedger({ afterMs: "auto" }, 5)).toThrow("budget.extraRatio");
  });
});
