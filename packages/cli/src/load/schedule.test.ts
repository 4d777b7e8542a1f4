import fc from "fast-check";
import { expect, test } from "vitest";
import { checkLoadOptions } from "./load-plan.ts";
import { countOfShare, Schedule, type Share, WHOLE } from "./schedule.ts";

const TARGETS = [
  { url: "http://a/", weight: 3 },
  { url: "http://b/", weight: 1 },
];

function sends(plan: ReturnType<typeof checkLoadOptions>, share: Share = WHOLE): string[] {
  const all: string[] = [];
  const schedule = new Schedule(plan, share);
  for (; schedule.nextMs < Number.POSITIVE_INFINITY; schedule.advance())
    all.push(`${schedule.nextMs} ${schedule.isWarmup} ${schedule.target}`);
  return all;
}

test("the shares of several threads are the plan, nothing twice and nothing left out", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.integer(),
      fc.nat(300),
      fc.integer({ min: 1, max: 400 }),
      (workers, seed, warmupMs, ratePerSec) => {
        const plan = checkLoadOptions({
          targets: TARGETS,
          ratePerSec,
          durationMs: 700,
          warmupMs,
          seed,
          workers,
        });
        const shares = Array.from({ length: workers }, (_, index) =>
          sends(plan, { index, of: workers }),
        );
        expect(shares.flat().sort()).toEqual(sends(plan).sort());
        shares.forEach((share, index) => {
          const { warmupCount, count } = plan;
          const part = { index, of: workers };
          expect(share.length).toBe(countOfShare(warmupCount, part) + countOfShare(count, part));
        });
      },
    ),
    { numRuns: 40 },
  );
});

test("targets are drawn by their weight, the same ones from the same seed", () => {
  const plan = checkLoadOptions({ targets: TARGETS, ratePerSec: 8_000, durationMs: 1_000 });
  const drawn = sends(plan).filter((send) => send.endsWith(" 0")).length;
  // Binomial with deviation 39: six of them.
  expect(Math.abs(drawn - 6_000)).toBeLessThan(234);
  expect(sends(plan)).toEqual(sends(plan));
});

test("a trace is sent at its own moments, after a warm-up at its mean rate", () => {
  const plannedMs = Float64Array.from([0, 0, 250.5, 999]);
  const plan = checkLoadOptions({ url: "http://a/", plannedMs, warmupMs: 500 });
  expect([plan.count, plan.durationMs, plan.warmupCount]).toEqual([4, 1_000, 2]);
  const measured = sends(plan).filter((send) => send.includes("false"));
  expect(measured.map((send) => Number.parseFloat(send))).toEqual([500, 500, 750.5, 1_499]);
});

test("the warm-up is sent at the rate that the profile begins with", () => {
  const profile = [{ fromPerSec: 50, toPerSec: 500, durationMs: 1_000 }];
  const plan = checkLoadOptions({ url: "http://a/", profile, warmupMs: 2_000 });
  expect([plan.warmupCount, plan.count, plan.durationMs]).toEqual([100, 275, 1_000]);
});

test("however long a run, at most 1,024 intervals cover it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 1e6 }), (ms, every) => {
      const plan = checkLoadOptions({
        url: "http://a/",
        ratePerSec: 0.001,
        durationMs: ms,
        intervalMs: every,
      });
      const count = ms / plan.intervalMs;
      expect(count).toBeLessThanOrEqual(1_024);
      expect(plan.intervalMs === every || count > 512).toBe(true);
    }),
  );
});
