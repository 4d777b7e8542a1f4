import { describe, expect, test } from "vitest";
import { empirical } from "./empirical.ts";
import { judgeLoad } from "./load-verdict.ts";
import {
  budgetCriticalLoad,
  criticalLoad,
  hedgeEquilibrium,
  loadWithHedges,
} from "./metastable.ts";
import { allBadRatio, poolingLoss, subsetSize } from "./subset-size.ts";

describe("a hedge without budget or cancellation", () => {
  const delay = Math.log(20) / 0.5;

  test("has a stable share below its critical load, and none above", () => {
    const critical = criticalLoad({ delay });
    const share = hedgeEquilibrium({ delay }, critical - 0.001) ?? Number.NaN;
    // The fixed point itself.
    expect(Math.exp(-delay * (1 - (critical - 0.001) * (1 + share)))).toBeCloseTo(share, 9);
    expect(hedgeEquilibrium({ delay }, critical + 0.001)).toBeUndefined();
    expect(hedgeEquilibrium({ delay }, 0.575)).toBeCloseTo(0.12, 1);
  });

  test("collapses earlier the earlier it hedges", () => {
    const loads = [3, 6, 10, 20].map((delayTimes) => criticalLoad({ delay: delayTimes }));
    expect(loads).toEqual([...loads].sort((a, b) => a - b));
  });
});

test("a budget moves the critical load to 1 / (1 + b)", () => {
  expect(budgetCriticalLoad(0.05)).toBeCloseTo(0.952, 3);
  expect(budgetCriticalLoad(0)).toBe(1);
});

test("cancelling losers saves its share of the extra work", () => {
  expect(loadWithHedges({ loadRatio: 0.6, extraRatio: 0.05 })).toBeCloseTo(0.63, 12);
  const load = { loadRatio: 0.6, extraRatio: 0.05, cancelSavingRatio: 0.5 };
  expect(loadWithHedges(load)).toBeCloseTo(0.615, 12);
});

describe("whether a load bears a hedge", () => {
  const latency = empirical([4, 5, 6]);
  const hedge = { delayMs: 40, extraRatio: 0.05 };
  const judge = (loadRatio: number, budgetRatio = 0.05) =>
    judgeLoad({ latency, loadRatio, budgetRatio }, hedge);

  test("is not said where the load is not known", () => {
    expect(judgeLoad({ latency }, hedge)).toBeUndefined();
  });

  test("is yes at a low load, without reservation", () => {
    expect(judge(0.3)).toMatchObject({ isSafe: true, reasons: [] });
  });

  test("hangs on cancellation above 65 %", () => {
    expect(judge(0.7)?.reasons).toContain("needs-cancellation");
    expect(judge(0.7)?.isSafe).toBe(true);
  });

  test("is no where the limit is passed or the budget would saturate the fleet", () => {
    expect(judge(0.78)).toMatchObject({ isSafe: false });
    expect(judge(0.78)?.reasons).toContain("above-limit");
    expect(judge(0.7, 0.5)?.reasons).toContain("near-critical");
  });

  test("needs nothing without hedges", () => {
    const none = { delayMs: Number.POSITIVE_INFINITY, extraRatio: 0 };
    expect(judgeLoad({ latency, loadRatio: 0.75 }, none)).toMatchObject({
      isSafe: true,
      resultingRatio: 0.75,
      reasons: [],
    });
  });
});

describe("the size of a subset", () => {
  test("keeps the chance of knowing bad endpoints only below what is asked", () => {
    expect(allBadRatio({ endpoints: 10, size: 2 }, 3)).toBeCloseTo((3 / 10) * (2 / 9), 12);
    expect(allBadRatio({ endpoints: 10, size: 4 }, 3)).toBe(0);
    const size = subsetSize({ endpoints: 1_000, bad: 500, maxPoolingLoss: 10 });
    expect(allBadRatio({ endpoints: 1_000, size }, 500)).toBeLessThanOrEqual(1e-6);
    expect(allBadRatio({ endpoints: 1_000, size: size - 1 }, 500)).toBeGreaterThan(1e-6);
  });

  test("grows with the load, since small pools wait longer", () => {
    const sizes = [0.5, 0.8, 0.9].map((loadRatio) => subsetSize({ endpoints: 300, loadRatio }));
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
    expect(sizes[0]).toBe(12);
    const last = { endpoints: 300, size: sizes[2] as number };
    expect(poolingLoss(last, { loadRatio: 0.9 })).toBeLessThanOrEqual(0.05);
  });

  test("is all of a small fleet", () => {
    expect(subsetSize({ endpoints: 5 })).toBe(5);
  });
});
