import { expect, test } from "vitest";
import { Mt19937 } from "./mt19937.ts";

// Printed by Python 3.11: random.Random(3), then random.Random(11).
test("draws are those of Python 3.11, to the last bit", () => {
  const r = new Mt19937(3);
  expect([r.random(), r.random(), r.random()]).toEqual([
    0.23796462709189137, 0.5442292252959519, 0.36995516654807925,
  ]);
  expect(r.below(10)).toBe(9);
  expect(r.pair(10)).toEqual([7, 1]);
  expect(r.exponential(2)).toBeCloseTo(0.4651942324620296, 15);
  expect(r.uniform(50, 150)).toBe(140.88184001853247);
  expect(r.lognormal(1.3, 0.4)).toBeCloseTo(3.500829787659719, 14);
  expect(r.random()).toBe(0.1917441039952995);
});

test("whole numbers and pairs are those of randrange and sample", () => {
  const r = new Mt19937(11);
  expect([r.uint32(), r.uint32()]).toEqual([1942955373, 3718334796]);
  expect(Array.from({ length: 12 }, () => r.below(10))).toEqual([
    8, 7, 7, 8, 9, 3, 2, 8, 7, 9, 2, 1,
  ]);
  expect(Array.from({ length: 6 }, () => r.pair(10))).toEqual([
    [7, 4],
    [2, 1],
    [8, 0],
    [9, 6],
    [7, 2],
    [9, 0],
  ]);
  expect([r.normal(0, 1), r.normal(0, 1), r.normal(0, 1)]).toEqual([
    0.770185064069635, -0.7285306377685057, -0.6820404025237987,
  ]);
  for (let i = 0; i < 2000; i++) r.random();
  expect(r.random()).toBe(0.21334845895119336);
});
