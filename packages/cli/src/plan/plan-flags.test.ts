import { expect, test } from "vitest";
import { unitOfName } from "./latency-unit.ts";
import { fanOutFlag, ratioIn, readSlo } from "./plan-flags.ts";

test("an objective is a percentile and a latency with its unit", () => {
  expect(readSlo("p99<50ms")).toEqual({ quantile: 0.99, withinMs: 50 });
  expect(readSlo(" p99.9 <= 1.5s ")).toEqual({ quantile: 0.999, withinMs: 1_500 });
  for (const bad of ["p99<50", "p100<5ms", "p0<5ms", "99<5ms", "p99>5ms", "p99<0ms", ""])
    expect(() => readSlo(bad), bad).toThrow("as 'p99<50ms'");
});

test("a ratio is 5% or 0.05, within its range", () => {
  const read = ratioIn(0, 1);
  expect(["5%", "0.05", "100%", "0"].map(read)).toEqual([0.05, 0.05, 1, 0]);
  for (const bad of ["5", "-1%", "x", "", "101%"])
    expect(() => read(bad), bad).toThrow("Expected a ratio");
  expect(() => ratioIn(1e-6, 1)("5")).toThrow("from 0.0001% to 100%");
});

test("a fan-out is a whole number from 1", () => {
  expect(fanOutFlag("100")).toBe(100);
  for (const bad of ["0", "1.5", "", "-3", "1e9"])
    expect(() => fanOutFlag(bad), bad).toThrow("whole number");
});

test("a name states a unit by its last word", () => {
  const names = [
    "latency_ms",
    "durationMs",
    "took (us)",
    "x_seconds",
    "request_time_s",
    "t_ns",
    "p.micros",
  ];
  expect(names.map(unitOfName)).toEqual(["ms", "ms", "us", "s", "s", "ns", "us"]);
  expect(["latency", "ms", "items", "requests", "status"].map(unitOfName)).toEqual(
    Array(5).fill(undefined),
  );
});
