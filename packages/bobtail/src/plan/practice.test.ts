import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { slowRequestShare } from "./fan-out.ts";
import { extraLoad, pickDelay } from "./hedge-delay.ts";

describe("the share of slow requests", () => {
  test("is one minus the chance that every call is fast", () => {
    expect(slowRequestShare(0.01, 100)).toBeCloseTo(0.634, 3);
    expect(slowRequestShare(0.0001, 2_000)).toBeCloseTo(0.1813, 3);
    expect(slowRequestShare(0.5, 1)).toBeCloseTo(0.5, 12);
    expect(slowRequestShare(0.01, 0)).toBe(0);
  });

  test("keeps its digits where slow calls are rare", () => {
    expect(slowRequestShare(1e-15, 3)).toBeCloseTo(3e-15, 25);
    expect(slowRequestShare(1, 5)).toBe(1);
  });

  test("refuses a percentage", () => {
    expect(() => slowRequestShare(99, 2)).toThrow(/slowShare: expected a ratio in \[0, 1\]/);
  });
});

describe("the extra load of a delay", () => {
  test("counts the calls strictly slower than it", () => {
    expect(extraLoad([1, 2, 3, 4, 10], 3)).toBeCloseTo(0.4, 12);
    expect(extraLoad([5, 5, 5], 5)).toBe(0);
    expect(extraLoad([5, 5, 5], 4)).toBe(1);
  });

  test("of no calls at all is refused, not zero", () => {
    expect(() => extraLoad([], 1)).toThrow(/at least one latency/);
  });
});

describe("the delay picked for a budget", () => {
  const oneToHundred = Array.from({ length: 100 }, (_, i) => i + 1);

  test("is the smallest measured latency whose extra load fits", () => {
    expect(pickDelay(oneToHundred, 0.05)).toBe(95);
    expect(pickDelay(oneToHundred, 0.01)).toBe(99);
    expect(pickDelay(oneToHundred, 0)).toBe(100);
    expect(pickDelay([4, 4, 4, 50], 0.25)).toBe(4);
    expect(pickDelay([50, 4, 4, 4], 0.2)).toBe(50);
  });

  test("fits, and the next smaller latency would not, for any log and budget", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 0, max: 60 }),
        (latencies, allowed) => {
          const budget = Math.min(1, allowed / latencies.length);
          const delay = pickDelay(latencies, budget);
          const slower = latencies.filter((latency) => latency > delay).length;
          expect(slower).toBeLessThanOrEqual(allowed);
          const smaller = latencies.filter((latency) => latency < delay);
          if (smaller.length === 0) return;
          const next = Math.max(...smaller);
          expect(latencies.filter((latency) => latency > next).length).toBeGreaterThan(allowed);
        },
      ),
    );
  });

  test("leaves the caller's list in its order", () => {
    const latencies = [3, 1, 2];
    pickDelay(latencies, 0.5);
    expect(latencies).toEqual([3, 1, 2]);
  });
});
