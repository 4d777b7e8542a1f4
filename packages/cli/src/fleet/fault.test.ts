import { seededRng } from "bobtail/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Fault, requestFaultAt, type SlowFault, slowFactorAt } from "./fault.ts";
import { FaultInjector } from "./fault-injector.ts";
import { isSlowKey, keyOf, shapeFactor } from "./request-shape.ts";
import { Job, VirtualQueue } from "./virtual-queue.ts";

const SLOW: SlowFault = { kind: "slow", factor: 5 };

test("a flapping fault is on for the sick part of each period and off for the rest, whenever one looks", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 1, max: 500 }),
      fc.nat(100),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (sickMs, healthyMs, period, withinRatio) => {
        const flapping: Fault = { kind: "flapping", sickMs, healthyMs, fault: SLOW };
        const startMs = 1_000 + period * (sickMs + healthyMs);
        const sick = requestFaultAt(flapping, 1_000, startMs + withinRatio * sickMs);
        const well = requestFaultAt(flapping, 1_000, startMs + sickMs + withinRatio * healthyMs);
        expect([sick, well]).toEqual([SLOW, undefined]);
      },
    ),
    { numRuns: 300 },
  );
});

test("a cold backend's factor falls in a straight line to one, by time or by requests, whichever is sooner", () => {
  const byTime: SlowFault = { ...SLOW, fades: { overMs: 1_000 } };
  expect([0, 250, 500, 1_000, 9_000].map((ms) => slowFactorAt(byTime, ms, 0))).toEqual([
    5, 4, 3, 1, 1,
  ]);
  const byCount: SlowFault = { ...SLOW, fades: { overRequests: 100 } };
  expect([0, 25, 100, 500].map((n) => slowFactorAt(byCount, 1e6, n))).toEqual([5, 4, 1, 1]);
  const both: SlowFault = { ...SLOW, fades: { overMs: 1_000, overRequests: 100 } };
  expect([slowFactorAt(both, 500, 10), slowFactorAt(both, 100, 50)]).toEqual([3, 3]);
});

test("a fault that flaps makes services slow by the moment they begin, however late the clock is read", () => {
  const injector = new FaultInjector(seededRng(1));
  injector.set({ kind: "flapping", sickMs: 100, healthyMs: 100, fault: SLOW }, 0);
  const ends: number[] = [];
  const queue = new VirtualQueue<undefined>(
    {
      workers: 1,
      queueLimitMs: 10_000,
      maxQueued: 10,
      slowFactorAt: (startMs) => injector.slowFactorAt(startMs),
    },
    (job) => ends.push(job.endMs),
    () => {},
  );
  for (let i = 0; i < 4; i++) queue.arrive(new Job(30, undefined), 0);
  queue.advance(10_000);
  // Begun at 0 (sick), 150 and 180 (well), 210 (sick again).
  expect(ends).toEqual([150, 180, 210, 360]);
});

test("lots are drawn from a stream of their own, in the share asked for", () => {
  const injector = new FaultInjector(seededRng(3));
  injector.set({ kind: "resets", after: "accept", shareRatio: 0.3 }, 0);
  let hits = 0;
  for (let i = 0; i < 10_000; i++) if (injector.hitAt(1) !== undefined) hits++;
  expect(hits / 10_000).toBeCloseTo(0.3, 1);
  injector.set(undefined, 2);
  expect(injector.hitAt(3)).toBeUndefined();
});

test("about as many keys are slow as were asked for, and a key that is slow stays so at a larger share", () => {
  const keys = Array.from({ length: 10_000 }, (_, i) => `key-${i}`);
  const slow = keys.filter((key) => isSlowKey(key, 0.1));
  expect(slow.length / keys.length).toBeCloseTo(0.1, 1);
  expect(slow.every((key) => isSlowKey(key, 0.2))).toBe(true);
});

test("a request is known by its key where it has one, else by all of its target", () => {
  expect([keyOf("/a?key=7&x=1"), keyOf("/a?x=1"), keyOf("/a")]).toEqual(["7", "/a?x=1", "/a"]);
});

test("a large request for a slow key is longer by both factors", () => {
  const shapes = {
    large: { path: "/large", bodyBytes: 1, factor: 3 },
    slowKeys: { shareRatio: 1, factor: 5 },
  };
  expect([shapeFactor(shapes, "/large?key=1"), shapeFactor(shapes, "/?key=1")]).toEqual([15, 5]);
});
