import { expect, test } from "vitest";
import { figureOf } from "./percentiles.ts";
import { inventedRun } from "./run-record.testbed.ts";
import { countEpisodes } from "./slow-episodes.ts";

type Outcome = (i: number) => number | "refused" | "timeout";
function episodes(outcome: Outcome, quantile = 0.99): number {
  const { measured, intervals } = inventedRun({ outcome });
  const figure = figureOf(measured.all, quantile);
  return countEpisodes(intervals, figure.kind === "known" ? figure.ms : 0);
}

test("seconds next to each other are one episode, seconds apart are several", () => {
  const slowIn = (...seconds: number[]) =>
    episodes((i) => (seconds.includes(Math.floor(i / 100)) && i % 100 < 20 ? 300 : 2));
  expect(slowIn(4)).toBe(1);
  expect(slowIn(4, 5)).toBe(1);
  expect(slowIn(1, 4, 8)).toBe(3);
});

test("timeouts in every second are one long episode, though their ends differ by a hair", () => {
  expect(episodes((i) => (i % 10 === 0 ? 1_000 + (i % 7) / 10 : 2))).toBe(1);
});

test("failures are slow too", () => {
  expect(episodes((i) => (i === 550 ? "refused" : i < 20 ? 50 : 2))).toBe(2);
});
