import { describe, expect, test } from "vitest";
import { expectedMax, expectedMaxExponential, forkJoinMean } from "./expected-max.ts";
import { exponentialLaw } from "./known-laws.ts";
import { meanOfLaw } from "./latency-law.ts";
import {
  erlangC,
  meanSojourn,
  meanWait,
  pollaczekKhinchinWait,
  sojournLaw,
  sojournQuantile,
} from "./queueing.ts";
import { leastWorkMean, redundancyMean, tiedDuplicateShare } from "./redundancy.ts";
import { choicesLaw, choicesMean, queueAtLeast } from "./supermarket.ts";

function near(got: number, expected: number, ratio = 0.001): void {
  expect(Math.abs(got / expected - 1), `${got} against ${expected}`).toBeLessThan(ratio);
}

describe("one queue before several workers", () => {
  test("has Erlang's waits", () => {
    near(erlangC({ loadRatio: 0.7, workers: 2 }), 0.5765);
    near(erlangC({ loadRatio: 0.7, workers: 4 }), 0.4287);
    near(erlangC({ loadRatio: 0.9, workers: 40 }), 0.4116);
    near(meanWait({ loadRatio: 0.7, workers: 4 }), 0.3572);
    near(meanSojourn({ loadRatio: 0.7, workers: 10 }), 1.0739);
    near(meanSojourn({ loadRatio: 0.9, workers: 10 }), 1.6687);
    near(meanSojourn({ loadRatio: 0.9 }), 10);
  });

  test("has a law whose mean and p99 agree with them", () => {
    near(sojournQuantile({ loadRatio: 0.7, workers: 4 }, 0.99), 5.493);
    near(sojournQuantile({ loadRatio: 0.7 }, 0.99), 15.351);
    near(meanOfLaw(sojournLaw({ loadRatio: 0.7, workers: 4 })), 1.3572, 0.002);
    // Where wait and service have one rate the two exponentials merge.
    near(
      meanOfLaw(sojournLaw({ loadRatio: 0.75, workers: 4 })),
      meanSojourn({ loadRatio: 0.75, workers: 4 }),
      0.002,
    );
  });

  test("does not exist from full load on", () => {
    expect(() => erlangC({ loadRatio: 1 })).toThrow(/ratio in \[0, 1\)/);
  });
});

test("waits of a general service time are Pollaczek's and Khinchin's", () => {
  near(pollaczekKhinchinWait(0.9, 0), 4.5);
  near(pollaczekKhinchinWait(0.7, 0), 1.1667);
  near(pollaczekKhinchinWait(0.7, Math.E - 1), 3.171);
  near(4.975 * pollaczekKhinchinWait(0.7, 4.448), 31.6, 0.002);
});

describe("joining the shortest of a few queues", () => {
  test("has the supermarket's means", () => {
    for (const [loadRatio, means] of [
      [0.5, [2, 1.2657, 1.1252]],
      [0.7, [3.3333, 1.6145, 1.3568]],
      [0.9, [10, 2.6141, 2.0279]],
      [0.99, [100, 5.432, 3.8578]],
    ] as const) {
      means.forEach((mean, i) => {
        near(choicesMean({ loadRatio, choices: i + 1 }), mean);
      });
    }
  });

  test("has queues that are doubly exponentially rare", () => {
    const two = [1, 2, 3, 4, 5, 6].map((i) => queueAtLeast({ loadRatio: 0.9, choices: 2 }, i));
    expect(two.map((share) => Number(share.toPrecision(3)))).toEqual([
      0.9, 0.729, 0.478, 0.206, 0.0382, 0.00131,
    ]);
    near(queueAtLeast({ loadRatio: 0.9, choices: 1 }, 8), 0.4305);
  });

  test("has a law with that mean", () => {
    const model = { loadRatio: 0.7, choices: 2 };
    near(meanOfLaw(choicesLaw(model)), choicesMean(model), 0.002);
  });
});

test("redundant copies, cancelled when one completes or starts", () => {
  for (const [loadRatio, mean] of [
    [0.5, 0.7981],
    [0.7, 1.1016],
    [0.9, 2.1433],
  ] as const)
    near(redundancyMean({ loadRatio, copies: 2 }, 10), mean);
  for (const [loadRatio, two, three] of [
    [0.5, 1.1507, 1.0451],
    [0.7, 1.3742, 1.1458],
    [0.9, 2.0503, 1.4875],
  ] as const) {
    near(leastWorkMean({ loadRatio, copies: 2 }), two);
    near(leastWorkMean({ loadRatio, copies: 3 }), three);
  }
  expect([0.2, 0.5, 0.7].map((r) => Number(tiedDuplicateShare(r).toFixed(3)))).toEqual([
    0.492, 0.172, 0.065,
  ]);
});

test("one copy is no redundancy", () => {
  near(redundancyMean({ loadRatio: 0.7, copies: 1 }, 5), 1 / 0.3 / 1, 0.001);
  near(leastWorkMean({ loadRatio: 0.7, copies: 1 }), 1 / 0.3);
});

describe("the slowest of several", () => {
  test("exponentials is on average a harmonic number", () => {
    near(expectedMaxExponential(100, { meanMs: 2, shiftMs: 3 }), 3 + 2 * 5.18738, 1e-5);
    near(expectedMax(exponentialLaw(2), 100), 2 * 5.18738);
  });

  test("queues that fill together waits less than independent ones", () => {
    near(forkJoinMean(0.7, 2), 4.708);
    near(forkJoinMean(0.7, 10), 8.05, 0.002);
    near(forkJoinMean(0.7, 32), 10.7, 0.002);
    expect(forkJoinMean(0.7, 10)).toBeLessThan(9.76);
    near(forkJoinMean(0.7, 1), 1 / 0.3);
  });
});
