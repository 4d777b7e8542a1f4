import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const KEYS = ["endpoints", "balance", "hedge", "budget", "retry", "deadline", "timeout", "limit"];

test("a slip of the finger finds the key that was meant", () => {
  const slips = ["endpoint", "enpdoints", "ballance", "HEDGE", "hegde", "retries", "dealine"];
  expect(slips.map((slip) => nearest(slip, KEYS))).toEqual([
    "endpoints",
    "endpoints",
    "balance",
    "hedge",
    "hedge",
    undefined,
    "deadline",
  ]);
});

test("a word unlike every key finds none", () => {
  expect(nearest("upstream", KEYS)).toBeUndefined();
  expect(nearest("x", KEYS)).toBeUndefined();
  expect(nearest("e".repeat(100_000), KEYS)).toBeUndefined();
});
