import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BudgetOptions } from "./options.ts";
import { deposits, drain, emptied } from "./token-budget.testbed.ts";
import { createTokenBudget } from "./token-budget.ts";

describe("what extra attempts may cost", () => {
  const anyOptions = fc.record({
    extraRatio: fc.oneof(
      fc.constantFrom(0.01, 0.15, 0.3, 0.6, 0.9, 1.5),
      fc.double({ min: 0.01, max: 1.5, noNaN: true }),
    ),
    burstCount: fc.integer({ min: 1, max: 30 }),
    minPerSecond: fc.constantFrom(0, 0.1, 1, 3.7, 20),
    maxPerSecond: fc.constantFrom(20, 25, 100, Number.POSITIVE_INFINITY),
  });
  const anyEvents = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constant("success" as const) },
      { weight: 1, arbitrary: fc.constant("failure" as const) },
      { weight: 4, arbitrary: fc.constant("hedge" as const) },
      { weight: 4, arbitrary: fc.constant("retry" as const) },
      { weight: 1, arbitrary: fc.constant("refund" as const) },
      { weight: 3, arbitrary: fc.double({ min: 0, max: 700, noNaN: true }) },
    ),
    { maxLength: 400 },
  );

  test("37: in any order of events, extra attempts <= burst + ratio x successes + rate x time", () => {
    fc.assert(
      fc.property(anyOptions, anyEvents, fc.constantFrom(0, 1.7e12), (options, events, startMs) => {
        const { extraRatio, burstCount, minPerSecond, maxPerSecond } = options;
        const budget = createTokenBudget(options, startMs);
        const atOnce = Math.max(1, Math.min(burstCount, Math.floor(maxPerSecond / 10)));
        let nowMs = startMs;
        let successes = 0;
        let extra = 0;
        for (const event of events) {
          if (typeof event === "number") nowMs += event;
          else if (event === "success") {
            successes++;
            budget.deposit(nowMs);
          } else if (event === "failure") budget.failure(nowMs);
          else if (event === "refund") {
            if (extra > 0) extra--;
            budget.refund();
          } else if (budget.tryWithdraw(event, nowMs)) extra++;

          const seconds = (nowMs - startMs) / 1000;
          // A ratio is rounded to the millionth.
          const earned = burstCount + (extraRatio + 1e-6) * successes + minPerSecond * seconds;
          expect(extra).toBeLessThanOrEqual(earned + 1e-6);
          if (maxPerSecond < Number.POSITIVE_INFINITY)
            expect(extra).toBeLessThanOrEqual(maxPerSecond * seconds + atOnce + 1e-6);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("37: a steady stream gets its whole ratio, for ratios from 0.01 to 1.5", () => {
    for (const extraRatio of [0.01, 0.15, 0.3, 0.6, 0.9, 1.5]) {
      const budget = emptied({ extraRatio });
      let extra = 0;
      for (let i = 0; i < 1000; i++) {
        budget.deposit(0);
        extra += drain(budget, 0);
      }
      expect(extra).toBe(Math.floor(Math.round(extraRatio * 1e6) / 1e3));
    }
  });

  test("B32: ratio 0.6 lets at most 6 extra through per 10 successes", () => {
    const budget = emptied({ extraRatio: 0.6 });
    deposits(budget, 10);
    expect(drain(budget, 0)).toBe(6);
  });

  test("ten successes at ratio 0.1 buy exactly one extra attempt", () => {
    const budget = emptied({ extraRatio: 0.1 });
    deposits(budget, 9);
    expect(budget.tryWithdraw("retry", 0)).toBe(false);
    deposits(budget, 1);
    expect(drain(budget, 0)).toBe(1);
  });

  test("ratio 0 with no rate earns nothing beyond the first burst", () => {
    const budget = emptied({ extraRatio: 0, burstCount: 3 });
    deposits(budget, 10_000);
    expect(drain(budget, 1e9)).toBe(0);
  });

  test("it starts full, and no more than the burst is ever saved up", () => {
    const budget = createTokenBudget({ burstCount: 5 }, 0);
    deposits(budget, 1000);
    expect(budget.balanceAt(0)).toBe(5);
    expect(drain(budget, 0)).toBe(5);
    expect(budget.capacityCount).toBe(5);
  });
});

describe("hedges and retries", () => {
  test("hedges leave the last quarter of the burst to retries", () => {
    const budget = createTokenBudget({ burstCount: 12 }, 0);
    expect(drain(budget, 0, "hedge")).toBe(9);
    expect(drain(budget, 0, "retry")).toBe(3);
  });

  test.each([
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 3],
    [10, 8],
  ])("a burst of %i lets %i hedges through", (burstCount, hedges) => {
    expect(drain(createTokenBudget({ burstCount }, 0), 0, "hedge")).toBe(hedges);
  });

  test("hedges too get their whole ratio once the reserve is there", () => {
    const budget = createTokenBudget({ extraRatio: 0.25, burstCount: 8 }, 0);
    drain(budget, 0, "hedge");
    deposits(budget, 16);
    expect(drain(budget, 0, "hedge")).toBe(4);
  });

  test("38: when it is empty, hedges and retries are both refused", () => {
    const budget = emptied({});
    expect(budget.tryWithdraw("hedge", 0)).toBe(false);
    expect(budget.tryWithdraw("retry", 0)).toBe(false);
    expect(budget.balanceAt(0)).toBe(0);
  });

  test("B5: the n-th extra attempt is allowed if and only if burst + earned >= n", () => {
    const budget = createTokenBudget({ extraRatio: 0.5, burstCount: 2 }, 0);
    const allowed: boolean[] = [];
    for (let call = 1; call <= 8; call++) {
      allowed.push(budget.tryWithdraw("retry", 0));
      budget.deposit(0);
    }
    expect(allowed).toEqual([true, true, true, false, true, false, true, false]);
  });

  test("36: of 1000 failures at one moment, as many are tried again as the bucket holds: not all, not none", () => {
    const budget = createTokenBudget({ extraRatio: 0.2, burstCount: 100 }, 0);
    deposits(budget, 5000);
    let retried = 0;
    // Each is paid for when it is decided, however long it then waits and whoever has ended by then.
    for (let i = 0; i < 1000; i++) if (budget.tryWithdraw("retry", 0)) retried++;
    expect(retried).toBe(100);
    deposits(budget, 50, 60_000);
    expect(drain(budget, 60_000)).toBe(10);
  });

  test("an attempt that could not be placed is paid back, once", () => {
    const budget = createTokenBudget({ burstCount: 4, maxPerSecond: 40 }, 0);
    expect(budget.tryWithdraw("hedge", 0)).toBe(true);
    budget.refund();
    expect(budget.balanceAt(0)).toBe(4);
    budget.refund();
    expect([budget.balanceAt(0), drain(budget, 0)]).toEqual([4, 4]);
  });
});

describe("options", () => {
  test.each([
    [{ extraRatio: 2.1 }, "budget.extraRatio", "[0, 2]"],
    [{ extraRatio: -0.1 }, "budget.extraRatio", "[0, 2]"],
    [{ extraRatio: Number.NaN }, "budget.extraRatio", "[0, 2]"],
    [{ burstCount: 0 }, "budget.burstCount", "[1, 10000]"],
    [{ burstCount: 2.5 }, "budget.burstCount", "[1, 10000]"],
    [{ burstCount: 10_001 }, "budget.burstCount", "[1, 10000]"],
    [{ minPerSecond: -1 }, "budget.minPerSecond", "[0, 1000]"],
    [{ minPerSecond: 1001 }, "budget.minPerSecond", "[0, 1000]"],
    [{ maxPerSecond: 0 }, "budget.maxPerSecond", "above 0"],
    [{ minPerSecond: 5, maxPerSecond: 4 }, "budget.maxPerSecond", "minPerSecond, which is 5"],
  ])("%o is refused with its name and range", (options: BudgetOptions, name, range) => {
    expect(() => createTokenBudget(options, 0)).toThrow(`${name}: expected `);
    expect(() => createTokenBudget(options, 0)).toThrow(range);
  });
});
