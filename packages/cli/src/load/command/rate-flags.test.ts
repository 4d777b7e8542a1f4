import fc from "fast-check";
import { expect, test } from "vitest";
import { rateFlag, stepsFlag, sweepFlag } from "./rate-flags.ts";

test("a rate is a number a second, below one too; two of them are a ramp, which may begin at rest", () => {
  expect(rateFlag("0.5")).toEqual({ fromPerSec: 0.5, toPerSec: 0.5 });
  expect(rateFlag("200/s")).toEqual({ fromPerSec: 200, toPerSec: 200 });
  expect(rateFlag("0..2000")).toEqual({ fromPerSec: 0, toPerSec: 2_000 });
  expect(rateFlag("2000..100/s")).toEqual({ fromPerSec: 2_000, toPerSec: 100 });
});

test.each(["", "0", "0..0", "-5", "5e3", "NaN", "100...200", "2000000", "50ms", "1,2"])(
  "the rate %j is refused",
  (text) => {
    expect(() => rateFlag(text)).toThrow("Expected requests a second");
  },
);

test("steps are rates one after the other", () => {
  expect(stepsFlag("100, 200,50")).toEqual([100, 200, 50]);
  for (const text of ["", "100,", "100,0", "a,b"])
    expect(() => stepsFlag(text)).toThrow("Expected");
});

test("a sweep goes by steps or by a factor, and always ends at its last rate", () => {
  expect(sweepFlag("50..200:50")).toEqual([50, 100, 150, 200]);
  expect(sweepFlag("50..220:50")).toEqual([50, 100, 150, 200, 220]);
  expect(sweepFlag("50..500:x2")).toEqual([50, 100, 200, 400, 500]);
  expect(sweepFlag("0.1..0.3:0.1")).toEqual([0.1, 0.2, 0.3]);
  expect(sweepFlag("50..2000")).toHaveLength(8);
});

test("whatever the sweep, its rates rise from the first to the last and are few", () => {
  const rate = fc.integer({ min: 1, max: 100_000 });
  fc.assert(
    fc.property(rate, rate, fc.option(fc.tuple(fc.boolean(), rate)), (a, b, step) => {
      fc.pre(a < b);
      const by = step === null ? "" : `:${step[0] ? "x" : ""}${step[1]}`;
      let rates: readonly number[];
      try {
        rates = sweepFlag(`${a}..${b}${by}`);
      } catch (error) {
        expect(String(error)).toMatch(/does not lead/);
        return;
      }
      expect([rates[0], rates.at(-1)]).toEqual([a, b]);
      expect(rates.length).toBeLessThanOrEqual(201);
      expect(rates.every((value, i) => i === 0 || value > (rates[i - 1] ?? 0))).toBe(true);
    }),
  );
});

test.each([
  "",
  "50",
  "200..50",
  "0..50",
  "50..50",
  "50..200:0",
  "50..200:x1",
  "50..200:x0.5",
  "1..100000:1",
])("the sweep %j is refused", (text) => {
  expect(() => sweepFlag(text)).toThrow(/Expected|does not lead/);
});
