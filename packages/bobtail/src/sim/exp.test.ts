import fc from "fast-check";
import { expect, test } from "vitest";
import { exp } from "./exp.ts";

test("agrees with Math.exp to the last two digits of a double, wherever that is a normal number", () => {
  fc.assert(
    fc.property(fc.double({ min: -700, max: 700, noNaN: true }), (x) => {
      expect(Math.abs(exp(x) / Math.exp(x) - 1)).toBeLessThan(5e-16);
    }),
    { numRuns: 20_000 },
  );
});

test("is exact at 0, never falls where the argument rises, and ends as Math.exp does", () => {
  expect(exp(0)).toBe(1);
  for (let i = -20_000; i < 20_000; i++) expect(exp((i + 1) / 1000)).toBeGreaterThan(exp(i / 1000));
  for (const x of [800, -800, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN])
    expect(exp(x)).toBe(Math.exp(x));
});
