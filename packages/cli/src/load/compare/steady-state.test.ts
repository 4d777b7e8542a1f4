import { seededRng } from "bobtail/engine";
import { expect, test } from "vitest";
import { kendallScore, trendPValue } from "./kendall.ts";
import { mser5 } from "./mser.ts";
import { steadyStateOf } from "./steady-state.ts";

const rng = seededRng(3);
const noise = (): number => 10 + rng.next();
const series = (length: number, of: (i: number) => number): number[] =>
  Array.from({ length }, (_, i) => of(i));

test("Kendall's score counts rising pairs less falling ones; without ties its variance is n(n-1)(2n+5)/18", () => {
  expect(kendallScore([1, 2, 3, 4, 5])).toEqual({ score: 10, variance: 300 / 18 });
  expect(kendallScore([5, 4, 3, 2, 1]).score).toBe(-10);
  // Pairs by hand: 3-1 3-2 1-2 3-4 1-4 2-4 are - - + + + +.
  expect(kendallScore([3, 1, 2, 4]).score).toBe(2);
});

test("ties count for neither and take from the variance", () => {
  // n = 5 with ties of 2 and 2: (5*4*15 - 2*(2*1*9)) / 18.
  expect(kendallScore([1, 1, 2, 2, 3])).toEqual({ score: 8, variance: (300 - 36) / 18 });
  expect(trendPValue([kendallScore([7, 7, 7, 7])])).toBe(1);
});

test("ten rising values: the normal approximation of Mann, z = (45 - 1) / sqrt(125)", () => {
  expect(trendPValue([kendallScore(series(10, (i) => i))])).toBeCloseTo(8.3e-5, 5);
});

test("without a trend a trend is found about as often as the level says", () => {
  let found = 0;
  for (let i = 0; i < 1_000; i++) {
    const runs = Array.from({ length: 8 }, () => kendallScore(series(20, noise)));
    if (trendPValue(runs) <= 0.05) found++;
  }
  expect(found).toBeGreaterThan(20);
  expect(found).toBeLessThan(80);
});

test("MSER-5 cuts a slow start and no more than a batch beyond it", () => {
  const cut = mser5(series(60, (i) => (i < 15 ? 40 : 10) + rng.next()));
  expect(cut).toBeGreaterThanOrEqual(15);
  expect(cut).toBeLessThanOrEqual(25);
});

test("where the start takes more than half, MSER-5 does not say where it ends", () => {
  expect(mser5(series(60, (i) => 100 - i))).toBeUndefined();
});

test("runs that settle are steady, a slow start is named, and a p90 that goes on rising is no steady state", () => {
  const runs = (of: (i: number) => number): number[][] => [1, 2, 3, 4].map(() => series(60, of));
  expect(steadyStateOf(runs(noise))).toEqual({ kind: "steady" });
  const slowStart = steadyStateOf(runs((i) => noise() + (i < 10 ? 20 : 0)));
  expect(slowStart.kind === "warming-up" && slowStart.values).toBeGreaterThanOrEqual(10);
  expect(slowStart.kind === "warming-up" && slowStart.values).toBeLessThanOrEqual(15);
  expect(steadyStateOf(runs((i) => noise() + i / 5))).toMatchObject({
    kind: "no-steady-state",
    direction: "up",
  });
  expect(steadyStateOf(runs((i) => noise() - i / 10))).toMatchObject({ direction: "down" });
});

test("runs of ten seconds are too short to tell", () => {
  expect(steadyStateOf([series(10, noise)])).toEqual({ kind: "too-short", needed: 24 });
});
