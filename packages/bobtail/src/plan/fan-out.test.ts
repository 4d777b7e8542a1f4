import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  enoughOfLaw,
  fanOutLaw,
  fanOutQuantile,
  fastestOf,
  leafQuantile,
  maxFanOut,
  medianFanOut,
  slowestOf,
  slowRequestShare,
} from "./fan-out.ts";
import { exponentialLaw, uniformLaw } from "./known-laws.ts";
import { latencyQuantile } from "./latency-law.ts";
import { adviseFanOut } from "./lower-fan-out.ts";

test("leaves that meet the leaf quantile make a request that meets the target", () => {
  for (const fanOut of [1, 10, 500])
    expect(1 - slowRequestShare(1 - leafQuantile(0.99, fanOut), fanOut)).toBeCloseTo(0.99, 10);
});

test("the largest fan-out for an objective meets it, and one more leaf does not", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 1e-7, max: 0.5, noNaN: true }),
      fc.double({ min: 0.5, max: 0.9999, noNaN: true }),
      (slowShare, target) => {
        const most = maxFanOut(slowShare, target);
        expect(1 - slowRequestShare(slowShare, most)).toBeGreaterThanOrEqual(target - 1e-9);
        expect(1 - slowRequestShare(slowShare, most + 1)).toBeLessThan(target + 1e-9);
      },
    ),
  );
  expect(maxFanOut(0, 0.99)).toBe(Number.POSITIVE_INFINITY);
  expect(maxFanOut(0.02, 0.99)).toBe(0);
});

test("a leaf target turned round gives the fan-out it was made for", () => {
  for (const fanOut of [1, 7, 100, 2_000])
    expect(maxFanOut(1 - leafQuantile(0.99, fanOut), 0.99)).toBe(fanOut);
});

test("a leaf's p99 is the median of a request of 69 leaves", () => {
  expect(Math.round(medianFanOut(0.99))).toBe(69);
  const leaf = exponentialLaw(1);
  expect(latencyQuantile(fanOutLaw(leaf, 69), 0.5)).toBeCloseTo(latencyQuantile(leaf, 0.99), 1);
});

describe("waiting for enough of the leaves", () => {
  const leaf = uniformLaw({ fromMs: 0, toMs: 100 });

  test("for all of them is waiting for the slowest", () => {
    const all = enoughOfLaw(leaf, { fanOut: 20, enough: 20 });
    for (const t of [50, 90, 99])
      expect(all.survival(t)).toBeCloseTo(fanOutLaw(leaf, 20).survival(t), 10);
  });

  test("for one of them is waiting for the fastest", () => {
    const first = enoughOfLaw(leaf, { fanOut: 3, enough: 1 });
    expect(first.survival(50)).toBeCloseTo(fastestOf([leaf, leaf, leaf]).survival(50), 10);
  });

  test("for the middle one has the leaf's median", () => {
    const middle = enoughOfLaw(leaf, { fanOut: 101, enough: 51 });
    expect(latencyQuantile(middle, 0.5)).toBeCloseTo(50, 6);
  });

  test("costs less the fewer are enough", () => {
    const p99 = [100, 99, 95, 90].map((enough) =>
      latencyQuantile(enoughOfLaw(exponentialLaw(10), { fanOut: 100, enough }), 0.99),
    );
    expect(p99).toEqual([...p99].sort((a, b) => b - a));
    expect(p99[3]).toBeLessThan((p99[0] as number) / 2);
  });

  test("refuses more leaves than there are", () => {
    expect(() => enoughOfLaw(leaf, { fanOut: 3, enough: 4 })).toThrow(/whole number in \[1, 3\]/);
  });
});

test("leaves of different laws multiply their shares on time", () => {
  const request = slowestOf([
    uniformLaw({ fromMs: 0, toMs: 10 }),
    uniformLaw({ fromMs: 0, toMs: 20 }),
  ]);
  expect(1 - request.survival(5)).toBeCloseTo(0.5 * 0.25, 12);
});

test("the quantile of the slowest leaf is a far quantile of one", () => {
  expect(fanOutQuantile(exponentialLaw(1), { fanOut: 100, quantile: 0.99 })).toBeCloseTo(9.205, 3);
});

describe("where leaves cannot meet an objective", () => {
  const leaf = exponentialLaw(10);
  const objective = { fanOut: 100, quantile: 0.99, withinMs: 60 };

  test("each advice, followed, meets it", () => {
    const advice = adviseFanOut(leaf, objective);
    if (advice === undefined) throw new Error("expected advice");
    const late = (fanOut: number): number => fanOutLaw(leaf, fanOut).survival(60);
    expect(late(advice.maxFanOut)).toBeLessThanOrEqual(0.01);
    expect(late(advice.maxFanOut + 1)).toBeGreaterThan(0.01);
    const enough = enoughOfLaw(leaf, { fanOut: 100, enough: advice.enough ?? 0 });
    expect(enough.survival(60)).toBeLessThanOrEqual(0.01);
    expect(slowRequestShare(leaf.survival(60) * (1 - advice.cachedRatio), 100)).toBeCloseTo(
      0.01,
      9,
    );
    expect(advice.partitionFactor).toBeCloseTo(100 / advice.maxFanOut, 12);
  });

  test("there is none when they do", () => {
    expect(adviseFanOut(leaf, { ...objective, withinMs: 100 })).toBeUndefined();
  });

  test("not even one leaf may be fast enough", () => {
    expect(adviseFanOut(leaf, { ...objective, withinMs: 5 })).toMatchObject({
      maxFanOut: 0,
      partitionFactor: Number.POSITIVE_INFINITY,
    });
  });
});
