import { describe, expect, test } from "vitest";
import { seededRng } from "../core/rng.ts";
import { budgetBurst } from "./budget-burst.ts";

/** A bucket fed and drawn on as the policy's is: a quarter is kept from hedges. Share of the due hedges refused. */
function refusedBy(
  burst: number,
  { dueRatio, budgetRatio, fanOut }: Record<string, number>,
): number {
  const rng = seededRng(3);
  let tokens = burst;
  let due = 0;
  let refused = 0;
  for (let request = 0; request < 2_000_000 / (fanOut ?? 1); request++) {
    for (let leaf = 0; leaf < (fanOut ?? 1); leaf++) {
      if (rng.next() >= (dueRatio ?? 0)) continue;
      due++;
      if (tokens - 1 >= burst / 4) tokens--;
      else refused++;
    }
    tokens = Math.min(burst, tokens + (fanOut ?? 1) * (budgetRatio ?? 0));
  }
  return refused / due;
}

describe("the burst advised for a budget", () => {
  test("lets few requests miss a hedge, where the budget is enough on average", () => {
    for (const needs of [
      { dueRatio: 0.04, budgetRatio: 0.05, fanOut: 1 },
      { dueRatio: 0.049, budgetRatio: 0.05, fanOut: 1 },
      { dueRatio: 0.04, budgetRatio: 0.05, fanOut: 100 },
      { dueRatio: 0.01, budgetRatio: 0.02, fanOut: 20 },
    ]) {
      const refused = refusedBy(budgetBurst(needs), needs);
      expect(refused * needs.fanOut * needs.dueRatio, JSON.stringify(needs)).toBeLessThan(0.002);
    }
  });

  test("refuses little more than the coin would, where more is due than earned", () => {
    for (const dueRatio of [0.021, 0.03, 0.05]) {
      const needs = { dueRatio, budgetRatio: 0.02, fanOut: 10 };
      const coin = 1 - 0.02 / dueRatio;
      expect(refusedBy(budgetBurst(needs), needs)).toBeLessThan(coin + 0.02);
    }
  });

  test("would be too small at ten for a hundred leaves", () => {
    const needs = { dueRatio: 0.049, budgetRatio: 0.05, fanOut: 100 };
    expect(refusedBy(10, needs)).toBeGreaterThan(0.05);
    expect(budgetBurst(needs)).toBeGreaterThan(100);
  });

  test("is never below 10 nor above 1,000", () => {
    expect(budgetBurst({ dueRatio: 1e-6, budgetRatio: 1 })).toBe(10);
    expect(budgetBurst({ dueRatio: 0.05, budgetRatio: 0.05, fanOut: 1_000 })).toBe(1_000);
  });
});
