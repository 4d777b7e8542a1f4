import { expect, test } from "vitest";
import { mergeRuns } from "./merge-runs.ts";
import { inventedRun } from "./run-record.testbed.ts";
import { unsteadiness } from "./steadiness.ts";

const MINUTE = { durationMs: 60_000 };
/** Of the requests of a minute at 100 a second, those of its last ten seconds. */
const isLate = (i: number): boolean => i >= 5_000;

test("a run whose requests begin to fail near its end has no steady state, whatever its answers took", () => {
  const some = inventedRun({
    options: MINUTE,
    outcome: (i) => (isLate(i) && i % 5 === 0 ? "refused" : 2),
  });
  expect(unsteadiness(some)).toMatch(/^No steady state: the p90 was still going up/);
  expect(unsteadiness(inventedRun({ options: MINUTE }))).toBeUndefined();
});

test("a load that changes by itself has no steady state to miss", () => {
  const slower = (i: number): number => (isLate(i) ? 9 : 2);
  const ramp = [{ fromPerSec: 100, toPerSec: 101, durationMs: 60_000 }];
  const options = { profile: ramp, ratePerSec: undefined, durationMs: undefined };
  expect(unsteadiness(inventedRun({ options: MINUTE, outcome: slower }))).toMatch(/^No steady/);
  expect(unsteadiness(inventedRun({ options, outcome: slower }))).toBeUndefined();
});

test("merged runs of different levels are no slow start: each is looked at by itself", () => {
  const merged = (outcome: (i: number, run: number) => number) =>
    mergeRuns(
      [2, 3, 4].map((ms, run) => ({
        file: `${ms}`,
        run: {
          ...inventedRun({ options: MINUTE, outcome: (i) => ms * outcome(i, run) }),
          startedAt: `${ms}`,
        },
      })),
    );
  expect(unsteadiness(merged(() => 1))).toBeUndefined();
  expect(unsteadiness(merged((i) => (i < 1_000 ? 3 : 1)))).toMatch(
    /^Still warming up: the first 10 /,
  );
});
