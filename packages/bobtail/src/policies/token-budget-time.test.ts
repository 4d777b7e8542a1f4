import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRng } from "../core/rng.ts";
import { deposits, drain, emptied } from "./token-budget.testbed.ts";
import { createTokenBudget } from "./token-budget.ts";

describe("time", () => {
  test("minPerSecond is a true rate, not a lump: two a second give one each half second", () => {
    const budget = emptied({ extraRatio: 0, minPerSecond: 2 });
    const taken = [100, 499, 500, 999, 1000, 1250].map((nowMs) => drain(budget, nowMs));
    expect(taken).toEqual([0, 0, 1, 0, 1, 0]);
  });

  test("polling every hundredth of a millisecond loses nothing to rounding", () => {
    const budget = emptied({ extraRatio: 0, minPerSecond: 3.7 });
    let taken = 0;
    for (let i = 1; i <= 1_000_000; i++) if (budget.tryWithdraw("retry", i / 100)) taken++;
    expect(taken).toBe(37);
  });

  test("a day of silence fills the burst and no more", () => {
    const budget = emptied({ extraRatio: 0, minPerSecond: 1, burstCount: 10 });
    expect(drain(budget, 86_400_000)).toBe(10);
    expect(drain(budget, 86_400_900)).toBe(0);
    expect(drain(budget, 86_401_000)).toBe(1);
  });

  test("maxPerSecond holds whatever was earned", () => {
    const budget = createTokenBudget({ extraRatio: 2, burstCount: 1000, maxPerSecond: 10 }, 0);
    deposits(budget, 10_000);
    let taken = 0;
    for (let nowMs = 0; nowMs <= 10_000; nowMs++) {
      budget.deposit(nowMs);
      if (budget.tryWithdraw("hedge", nowMs)) taken++;
    }
    expect(taken).toBe(101);
  });

  test("a refusal by the ceiling takes nothing from what was earned", () => {
    const budget = createTokenBudget({ extraRatio: 0, burstCount: 4, maxPerSecond: 1 }, 0);
    const taken = [0, 1, 2, 1000, 1001, 2000, 3000, 4000].map((ms) =>
      budget.tryWithdraw("retry", ms),
    );
    expect(taken).toEqual([true, false, false, true, false, true, true, false]);
  });

  test("reading the balance changes nothing, at any time and in any order", () => {
    const times = fc.array(fc.tuple(fc.nat(3000), fc.nat(100_000)), { maxLength: 50 });
    fc.assert(
      fc.property(times, (list) => {
        const options = { minPerSecond: 1.3, maxPerSecond: 2, burstCount: 5 };
        const read = createTokenBudget(options, 0);
        const unread = createTokenBudget(options, 0);
        let nowMs = 0;
        for (const [stepMs, readAtMs] of list) {
          nowMs += stepMs;
          expect(read.balanceAt(nowMs + readAtMs)).toBe(read.balanceAt(nowMs + readAtMs));
          expect(read.tryWithdraw("hedge", nowMs)).toBe(unread.tryWithdraw("hedge", nowMs));
        }
        expect(read.balanceAt(nowMs)).toBe(unread.balanceAt(nowMs));
      }),
    );
  });

  test("the balance is what a retry could take", () => {
    const budget = createTokenBudget({ burstCount: 20, maxPerSecond: 50, minPerSecond: 7 }, 0);
    for (let nowMs = 0; nowMs < 5000; nowMs += 130) {
      const balance = budget.balanceAt(nowMs);
      expect(drain(budget, nowMs)).toBe(balance);
    }
  });
});

describe("the failure brake", () => {
  test("when everything fails, extra attempts stop although the bucket is full", () => {
    const budget = createTokenBudget({ burstCount: 1000 }, 0);
    let extra = 0;
    for (let i = 0; i < 1000; i++) {
      budget.failure(0);
      if (budget.tryWithdraw("retry", 0)) extra++;
    }
    expect(extra).toBeLessThan(15);
    expect(budget.balanceAt(0)).toBe(0);
    expect(budget.tryWithdraw("hedge", 0)).toBe(false);
  });

  test("B33: after an outage, successes bring the budget back", () => {
    const budget = createTokenBudget({ burstCount: 10 }, 0);
    for (let i = 0; i < 100_000; i++) {
      budget.failure(0);
      budget.tryWithdraw("retry", 0);
    }
    deposits(budget, 150);
    expect(budget.tryWithdraw("retry", 0)).toBe(false);
    deposits(budget, 1);
    expect(budget.tryWithdraw("retry", 0)).toBe(true);
  });

  test.each([0.01, 0.05])(
    "a healthy fleet that fails %d of its calls is never braked",
    (failureShare) => {
      const budget = createTokenBudget({ extraRatio: 2, burstCount: 10_000 }, 0);
      const rng = seededRng(38);
      let refused = 0;
      for (let i = 0; i < 1_000_000; i++) {
        if (rng.next() < failureShare) budget.failure(0);
        else budget.deposit(0);
        if (budget.balanceAt(0) === 0) refused++;
      }
      expect(refused).toBe(0);
    },
  );

  test("a fleet that fails a fifth of its calls is braked most of the time", () => {
    const budget = createTokenBudget({}, 0);
    const rng = seededRng(38);
    let refused = 0;
    for (let i = 0; i < 10_000; i++) {
      if (rng.next() < 0.2) budget.failure(0);
      else budget.deposit(0);
      if (budget.balanceAt(0) === 0) refused++;
    }
    expect(refused).toBeGreaterThan(9000);
  });
});
