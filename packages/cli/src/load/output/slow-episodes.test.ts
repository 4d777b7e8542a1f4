import { expect, test } from "vitest";
import { inventedRun } from "./run-record.testbed.ts";
import { slowEpisodes } from "./slow-episodes.ts";

type Outcome = (i: number) => number | "refused" | "timeout";
function episodes(outcome: Outcome, quantile = 0.99): number | undefined {
  return slowEpisodes(inventedRun({ outcome }), quantile);
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

test("where a percentile lies among the failures it stands on them alone", () => {
  // Two seconds of failures, and one of answers that are slow, of which the p99 knows nothing.
  const failing = (i: number): boolean => [2, 6].includes(Math.floor(i / 100)) && i % 100 < 20;
  expect(episodes((i) => (failing(i) ? "refused" : i > 400 && i < 420 ? 300 : 2))).toBe(2);
});

test("a percentile that the sample does not support stands on nothing that can be told", () => {
  expect(episodes(() => 2, 0.999)).toBeUndefined();
});

test("failures are slow too", () => {
  expect(episodes((i) => (i === 550 ? "refused" : i < 20 ? 50 : 2))).toBe(2);
});
