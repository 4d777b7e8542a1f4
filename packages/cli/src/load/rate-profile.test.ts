import { seededRng } from "bobtail/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Arrivals } from "./arrivals.ts";
import type { RateSegment } from "./load-options.ts";
import { integralOf, RateProfile } from "./rate-profile.ts";

const rates = fc.oneof(fc.constant(0), fc.double({ min: 0.1, max: 5_000, noNaN: true }));
const segments = fc.array(
  fc.record({
    fromPerSec: rates,
    toPerSec: rates,
    durationMs: fc.double({ min: 1, max: 2_000, noNaN: true }),
  }),
  { minLength: 1, maxLength: 6 },
);

function lengthOf(profile: readonly RateSegment[]): number {
  return profile.reduce((sum, { durationMs }) => sum + durationMs, 0);
}

test("load 11: the planned count is exact, in order and within the run, whatever the profile and the pattern", () => {
  fc.assert(
    fc.property(
      segments,
      fc.constantFrom("poisson" as const, "uniform" as const),
      fc.integer(),
      (profile, pattern, seed) => {
        const count = Math.round(integralOf(profile));
        const rng = seededRng(seed);
        const arrivals = new Arrivals({ pattern, count, startMs: 100, profile, rng });
        const endMs = 100 + lengthOf(profile);
        let beforeMs = 100;
        for (let i = 0; i < count; i++) {
          const atMs = arrivals.next();
          if (!(atMs >= beforeMs && atMs < endMs)) return false;
          beforeMs = atMs;
        }
        return arrivals.next() === Number.POSITIVE_INFINITY;
      },
    ),
  );
});

test("a profile's moments are the inverse of its cumulative rate", () => {
  fc.assert(
    fc.property(
      segments.filter((profile) => integralOf(profile) > 1),
      fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 30 }),
      (profile, points) => {
        const moments = new RateProfile(profile);
        for (const ratio of points.sort((a, b) => a - b)) {
          const atMs = moments.momentOf(ratio);
          const count = sentUntil(profile, atMs);
          expect(Math.abs(count - ratio * integralOf(profile))).toBeLessThan(1e-3);
        }
      },
    ),
  );
});

/** By midpoint sums, which are exact for ramps: independent of the code under test. */
function sentUntil(profile: readonly RateSegment[], untilMs: number): number {
  let leftMs = untilMs;
  let count = 0;
  for (const { fromPerSec, toPerSec, durationMs } of profile) {
    const lengthMs = Math.min(durationMs, Math.max(0, leftMs));
    const middle = fromPerSec + ((toPerSec - fromPerSec) * lengthMs) / 2 / durationMs;
    count += (middle * lengthMs) / 1_000;
    leftMs -= durationMs;
  }
  return count;
}

test("a ramp from nothing sends three quarters of its requests in its second half", () => {
  const profile = [{ fromPerSec: 0, toPerSec: 2_000, durationMs: 1_000 }];
  const rng = seededRng(1);
  const arrivals = new Arrivals({ pattern: "uniform", count: 1_000, startMs: 0, profile, rng });
  let late = 0;
  for (let i = 0; i < 1_000; i++) if (arrivals.next() >= 500) late++;
  expect(late).toBe(750);
});

test("nothing is sent during a pause", () => {
  const profile = [
    { fromPerSec: 100, toPerSec: 100, durationMs: 1_000 },
    { fromPerSec: 0, toPerSec: 0, durationMs: 1_000 },
    { fromPerSec: 100, toPerSec: 100, durationMs: 1_000 },
  ];
  const arrivals = new Arrivals({
    pattern: "poisson",
    count: 200,
    startMs: 0,
    profile,
    rng: seededRng(1),
  });
  const moments = Array.from({ length: 200 }, () => arrivals.next());
  expect(moments.filter((at) => at >= 1_000 && at < 2_000)).toEqual([]);
  expect(moments.filter((at) => at < 1_000).length).toBeGreaterThan(50);
});
