import { expect, test } from "vitest";
import { timeFlag, timeFlagFrom0 } from "./time-flag.ts";

test("a time has a unit; nothing at all is one only where that means something", () => {
  expect([timeFlag("500ms"), timeFlag("1.5s"), timeFlag(" 2m "), timeFlag("24h")]).toEqual([
    500, 1_500, 120_000, 86_400_000,
  ]);
  expect([timeFlagFrom0("0s"), timeFlagFrom0("0.0ms"), timeFlagFrom0("3s")]).toEqual([0, 0, 3_000]);
});

test("a bare number is asked for its unit, and what is out of range told the range", () => {
  expect(() => timeFlag("10")).toThrow("10 of what? Write 10ms or 10s.");
  expect(() => timeFlagFrom0("0")).toThrow("0 of what? Write 0ms or 0s.");
  for (const text of ["", "0s", "25h", "-1s", "1e3ms", "soon"])
    expect(() => timeFlag(text), text).toThrow("above 0 and at most 24h");
});
