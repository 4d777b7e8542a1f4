import fc from "fast-check";
import { expect, test } from "vitest";
import {
  FAILED_LIMITS,
  GRADES,
  type GradeBasis,
  gradeOf,
  isWorse,
  provenQuantile,
  provenRatio,
  RATIO_LIMITS,
  worstOf,
} from "./grade.ts";

const ideal = { p99Ms: 100, p999Ms: 150, failedRatio: 0 };
const grade = (basis: Partial<GradeBasis>) =>
  gradeOf({ p99Ms: 100, p999Ms: 150, failedRatio: 0, ideal, ...basis });

test("a balancer as good as the ideal gets an A, and nothing needs a reason", () => {
  expect(grade({})).toEqual({ grade: "A", why: "" });
});

test("the worst of p99, p99.9 and failures decides, and is named", () => {
  expect(grade({ p99Ms: 190 })).toEqual({ grade: "B", why: "p99 is 1.90 x the ideal or more" });
  expect(grade({ p99Ms: 190, p999Ms: 420 })).toEqual({
    grade: "C",
    why: "p99.9 is 2.80 x the ideal or more",
  });
  expect(grade({ p999Ms: 420, failedRatio: 0.07 })).toEqual({
    grade: "E",
    why: "7.0 % of requests or more fail beyond the ideal",
  });
});

test("each limit still gets its grade, and what is beyond the last is an F", () => {
  expect(RATIO_LIMITS.map((ratio) => grade({ p99Ms: 100 * ratio }).grade).join("")).toBe("ABCDE");
  expect(FAILED_LIMITS.map((ratio) => grade({ failedRatio: ratio }).grade).join("")).toBe("ABCDE");
  expect(grade({ p99Ms: 1_001 }).grade).toBe("F");
  expect(grade({ failedRatio: 0.101 }).grade).toBe("F");
});

test("what the ideal balancer loses too is not held against anyone", () => {
  const lossy = { ...ideal, failedRatio: 0.2 };
  expect(grade({ failedRatio: 0.2, ideal: lossy }).grade).toBe("A");
  expect(grade({ failedRatio: 0.21, ideal: lossy }).grade).toBe("C");
  expect(grade({ failedRatio: 0.1, ideal: lossy }).grade).toBe("A");
});

test("a percentile that the sample does not support, or that the ideal has not, is not graded on", () => {
  expect(grade({ p999Ms: undefined }).grade).toBe("A");
  expect(grade({ p99Ms: undefined, p999Ms: undefined, failedRatio: 1 }).grade).toBe("F");
  const endless = { ...ideal, p999Ms: Number.POSITIVE_INFINITY };
  expect(grade({ p999Ms: 9_999, ideal: endless }).grade).toBe("A");
});

test("slower or more often failed is never graded better", () => {
  const part = fc.record({
    p99Ms: fc.double({ min: 1, max: 5_000, noNaN: true }),
    p999Ms: fc.double({ min: 1, max: 5_000, noNaN: true }),
    failedRatio: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(part, part, (a, more) => {
      const worse = {
        p99Ms: a.p99Ms + more.p99Ms,
        p999Ms: a.p999Ms + more.p999Ms,
        failedRatio: Math.min(1, a.failedRatio + more.failedRatio),
      };
      expect(isWorse(grade(a).grade, grade(worse).grade)).toBe(false);
    }),
  );
});

test("the worst of several grades is the last of them in the alphabet", () => {
  expect(worstOf([])).toBeUndefined();
  expect(worstOf(["B", "A", "C", "A"])).toBe("C");
  expect([...GRADES].every((one, i) => i === 0 || isWorse(one, "A"))).toBe(true);
});

test("a sample proves less than it shows, and more of it proves more", () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 1_000_000 }), fc.double({ min: 0, max: 1 }), (n, r) => {
      const failed = Math.floor(r * n);
      expect(provenRatio(failed, n)).toBeLessThanOrEqual(failed / n);
      expect(provenRatio(failed * 10, n * 10)).toBeGreaterThanOrEqual(provenRatio(failed, n));
      expect(provenQuantile(0.99, n)).toBeLessThan(0.99);
      expect(provenQuantile(0.99, n * 10)).toBeGreaterThan(provenQuantile(0.99, n));
    }),
  );
  expect([provenRatio(0, 0), provenQuantile(0.5, 0)]).toEqual([0, 0]);
  // Known from tables: 10 of 100 prove 6.2 % at one-sided 95 %.
  expect(provenRatio(10, 100)).toBeCloseTo(0.0612, 3);
});
