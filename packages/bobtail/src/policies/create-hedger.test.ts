import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRng } from "../core/rng.ts";
import { createHedger } from "./create-hedger.ts";
import { live, lognormal } from "./hedged-world.testbed.ts";
import type { HedgeOptions } from "./options.ts";

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

  test("a new estimate at most doubles it, or takes a third off", () => {
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
        expect(nextMs / delayMs).toBeGreaterThan(0.6666);
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

test("an adaptive delay is shortened by the usual lateness of wakes, never below its floor; a fixed one is not", () => {
  const build = (afterMs: "auto" | number) => {
    const hedger = createHedger({ afterMs, floorMs: 9 }, 0.1);
    const cls = hedger.classOf("GET");
    for (let i = 0; i < 200; i++) hedger.record(cls, i < 180 ? 5 : 10.5, false, i);
    return { hedger, cls };
  };
  const { hedger, cls } = build("auto");
  const before = hedger.delayMs(cls, 200);
  for (let i = 0; i < 500; i++) hedger.woken(1.2);
  expect(hedger.delayMs(cls, 200)).toBeCloseTo(before - 1.2, 2);
  for (let i = 0; i < 500; i++) hedger.woken(300);
  expect(hedger.delayMs(cls, 200)).toBe(9);
  const fixed = build(20);
  for (let i = 0; i < 500; i++) fixed.hedger.woken(1.2);
  expect(fixed.hedger.delayMs(fixed.cls, 200)).toBe(20);
});
