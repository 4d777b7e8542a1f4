import { expect, test } from "vitest";
import { seededRng } from "../core/rng.ts";
import { compileLaw, type Law, meanOf } from "./law.ts";
import { standardNormal } from "./normal.ts";

const LAWS: readonly Law[] = [
  { kind: "constant", valueMs: 3 },
  { kind: "exponential", meanMs: 10 },
  { kind: "uniform", fromMs: 5, toMs: 15 },
  { kind: "lognormal", mu: 1.3, sigma: 0.4 },
  { kind: "pareto", shape: 3, scaleMs: 2 },
  { kind: "empirical", valuesMs: [1, 2, 3, 100] },
  {
    kind: "mixture",
    parts: [
      { share: 0.25, law: { kind: "constant", valueMs: 1 } },
      { share: 0.75, law: { kind: "exponential", meanMs: 4 } },
    ],
  },
  {
    kind: "stalls",
    law: { kind: "exponential", meanMs: 4 },
    share: 0.1,
    stall: { kind: "uniform", fromMs: 50, toMs: 150 },
  },
];

test.each(LAWS)("draws of $kind have the mean that it says", (law) => {
  const draw = compileLaw(law);
  const rng = seededRng(5);
  const count = 200_000;
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < count; i++) {
    const ms = draw(rng);
    sum += ms;
    squares += ms * ms;
  }
  const mean = sum / count;
  const error = Math.sqrt(Math.max(squares / count - mean * mean, 0) / count);
  expect(Math.abs(mean - meanOf(law))).toBeLessThanOrEqual(4 * error + 1e-9);
});

test("a heavy tail has no mean", () => {
  expect(meanOf({ kind: "pareto", shape: 1, scaleMs: 2 })).toBe(Number.POSITIVE_INFINITY);
});

test("normal numbers have the shares of the normal law, far tails included", () => {
  const rng = seededRng(9);
  const count = 2_000_000;
  // Shares above each point, from tables.
  const points: readonly (readonly [number, number])[] = [
    [-2, 0.9772499],
    [-1, 0.8413447],
    [-0.25, 0.5987063],
    [0, 0.5],
    [0.5, 0.3085375],
    [1.5, 0.0668072],
    [2.5, 0.0062097],
    [3.3, 4.8342e-4],
    [3.6, 1.5911e-4],
    [4, 3.1671e-5],
  ];
  const above = points.map(() => 0);
  for (let i = 0; i < count; i++) {
    const z = standardNormal(rng);
    for (let k = 0; k < points.length && z > (points[k]?.[0] as number); k++)
      above[k] = (above[k] as number) + 1;
  }
  for (const [k, [point, share]] of points.entries()) {
    const sd = Math.sqrt((share * (1 - share)) / count);
    expect(Math.abs((above[k] as number) / count - share) / sd, `above ${point}`).toBeLessThan(4);
  }
});
