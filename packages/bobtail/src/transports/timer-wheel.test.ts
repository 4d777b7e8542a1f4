import fc from "fast-check";
import { expect, test } from "vitest";
import { Wakeable } from "../core/clock.ts";
import { type HostTimer, systemTimers, type TimerHost, TimerWheel } from "./timer-wheel.ts";

/** A host whose time stands still between steps, and whose timers ring up to 1 ms early, as the real ones do. */
class FakeHost implements TimerHost {
  nowMs: number;
  armed: { run: () => void; atMs: number; isHeld: boolean } | undefined;
  rings: number;
  constructor(nowMs: number = 0) {
    this.nowMs = nowMs;
    this.armed = undefined;
    this.rings = 0;
  }
  arm(run: () => void, delayMs: number): HostTimer {
    expect(Number.isInteger(delayMs) && delayMs >= 1).toBe(true);
    expect(this.armed).toBeUndefined();
    const timer = { run, atMs: this.nowMs + delayMs, isHeld: true };
    this.armed = timer;
    return {
      ref: () => {
        timer.isHeld = true;
      },
      unref: () => {
        timer.isHeld = false;
      },
    };
  }
  disarm(): void {
    this.armed = undefined;
  }
  /** Time goes on to there, and the host's timer rings on the way as often as it is due. */
  advanceTo(untilMs: number, earlyMs: number = 0): void {
    while (this.armed !== undefined && this.armed.atMs - earlyMs <= untilMs) {
      this.nowMs = Math.max(this.nowMs, this.armed.atMs - earlyMs);
      this.ring();
    }
    this.nowMs = Math.max(this.nowMs, untilMs);
  }
  ring(): void {
    const { armed } = this;
    this.armed = undefined;
    this.rings++;
    armed?.run();
  }
  get holdsProcess(): boolean {
    return this.armed?.isHeld ?? false;
  }
}

class Sleeper extends Wakeable {
  readonly id: number;
  private readonly onFire: (id: number, nowMs: number) => void;
  constructor(id: number, onFire: (id: number, nowMs: number) => void) {
    super();
    this.id = id;
    this.onFire = onFire;
  }
  override fire(nowMs: number): void {
    this.onFire(this.id, nowMs);
  }
}

function wheelOn(host: FakeHost): TimerWheel {
  return new TimerWheel({ nowMs: () => host.nowMs }, host);
}

test("fires what a sorted list would, never early and in order, whatever is armed, moved or removed", () => {
  const step = fc.oneof(
    fc.record({
      op: fc.constant("arm" as const),
      id: fc.nat(15),
      inMs: fc.double({ min: -5, max: 80_000, noNaN: true }),
    }),
    fc.record({
      op: fc.constant("arm" as const),
      id: fc.nat(15),
      inMs: fc.double({ min: 0, max: 20, noNaN: true }),
    }),
    fc.record({ op: fc.constant("remove" as const), id: fc.nat(15) }),
    fc.record({
      op: fc.constant("advance" as const),
      byMs: fc.double({ min: 0, max: 40_000, noNaN: true }),
      early: fc.double({ min: 0, max: 0.99, noNaN: true }),
    }),
    fc.record({
      op: fc.constant("advance" as const),
      byMs: fc.double({ min: 0, max: 9, noNaN: true }),
      early: fc.constant(0),
    }),
  );
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 80 }),
      fc.double({ min: 0, max: 1e10, noNaN: true }),
      (steps, startMs) => {
        const host = new FakeHost(startMs);
        const wheel = wheelOn(host);
        const due = new Map<number, { atMs: number; latestMs: number }>();
        const sleepers = Array.from(
          { length: 16 },
          (_, id) =>
            new Sleeper(id, (fired, nowMs) => {
              const wake = due.get(fired);
              expect(due.delete(fired)).toBe(true);
              expect(nowMs).toBeGreaterThanOrEqual(wake?.atMs ?? Number.POSITIVE_INFINITY);
              expect(nowMs).toBe(host.nowMs);
            }),
        );
        for (const s of steps) {
          if (s.op === "arm") {
            const atMs = host.nowMs + s.inMs;
            due.set(s.id, { atMs, latestMs: Math.max(atMs, host.nowMs) + 3 });
            wheel.wakeAt(sleepers[s.id] as Sleeper, atMs);
          } else if (s.op === "remove") {
            due.delete(s.id);
            wheel.wakeAt(sleepers[s.id] as Sleeper, Number.POSITIVE_INFINITY);
          } else {
            host.advanceTo(host.nowMs + s.byMs, s.early);
            // A tick, the host's rounding and one early ring: by then nothing that is due is left.
            for (const { latestMs } of due.values()) expect(latestMs).toBeGreaterThan(host.nowMs);
          }
          expect(wheel.size).toBe(due.size);
          expect(host.holdsProcess).toBe(due.size > 0);
        }
        host.advanceTo(host.nowMs + 200_000);
        expect(due.size).toBe(0);
        expect(host.armed).toBeUndefined();
      },
    ),
    { numRuns: 500, seed: 7 },
  );
});

test("wakes of one moment fire in the order of arming, and earlier ones first", () => {
  const host = new FakeHost();
  const wheel = wheelOn(host);
  const fired: number[] = [];
  const at = [5.5, 3, 5.2, 3, 9, 5.9];
  for (const [id, atMs] of at.entries()) wheel.wakeAt(new Sleeper(id, (i) => fired.push(i)), atMs);
  host.nowMs = 20;
  host.ring();
  expect(fired).toEqual([1, 3, 0, 2, 5, 4]);
});

test("what is armed for the past while it fires waits for the next tick, so that nothing spins", () => {
  const host = new FakeHost(100);
  const wheel = wheelOn(host);
  const at: number[] = [];
  const again: Sleeper = new Sleeper(0, (_, nowMs) => {
    at.push(nowMs);
    if (at.length < 4) wheel.wakeAt(again, nowMs - 50);
  });
  wheel.wakeAt(again, 0);
  host.advanceTo(200);
  expect(at).toEqual([101, 102, 103, 104]);
});

test("one that fires may remove or move another that is due at the same moment", () => {
  const host = new FakeHost();
  const wheel = wheelOn(host);
  const fired: string[] = [];
  const removed = new Sleeper(1, () => fired.push("removed"));
  const moved = new Sleeper(2, (_, nowMs) => fired.push(`moved at ${nowMs}`));
  wheel.wakeAt(
    new Sleeper(0, () => {
      fired.push("first");
      wheel.wakeAt(removed, Number.POSITIVE_INFINITY);
      wheel.wakeAt(moved, 30);
    }),
    10,
  );
  wheel.wakeAt(removed, 10);
  wheel.wakeAt(moved, 10);
  host.advanceTo(50);
  expect(fired).toEqual(["first", "moved at 30"]);
  expect(wheel.size).toBe(0);
});

test("a throw loses no other wake", () => {
  const host = new FakeHost();
  const wheel = wheelOn(host);
  const fired: number[] = [];
  wheel.wakeAt(new Sleeper(0, (i) => fired.push(i)), 10);
  wheel.wakeAt(
    new Sleeper(1, () => {
      throw new Error("mine");
    }),
    10,
  );
  wheel.wakeAt(new Sleeper(2, (i) => fired.push(i)), 10);
  wheel.wakeAt(new Sleeper(3, (i) => fired.push(i)), 11);
  expect(() => host.advanceTo(20)).toThrow("mine");
  expect(host.holdsProcess).toBe(true);
  host.advanceTo(40);
  expect(fired).toEqual([0, 2, 3]);
  expect(wheel.size).toBe(0);
});

test("after a leap of the clock everything due fires once", () => {
  const host = new FakeHost();
  const wheel = wheelOn(host);
  const counts = new Array<number>(500).fill(0);
  const count = (id: number) => {
    counts[id] = (counts[id] as number) + 1;
  };
  for (const id of counts.keys()) wheel.wakeAt(new Sleeper(id, count), id * 321);
  host.nowMs = 86_400_000;
  host.ring();
  expect(counts.every((n) => n === 1)).toBe(true);
  expect(host.armed).toBeUndefined();
});

test("the host is not woken for ticks at which nothing is due", () => {
  const host = new FakeHost();
  const wheel = wheelOn(host);
  let fired = 0;
  wheel.wakeAt(new Sleeper(0, () => fired++), 30_000);
  host.advanceTo(30_000);
  expect([fired, host.rings]).toEqual([1, 1]);
});

test("a process waits for a pending wake, and for nothing once the last one is removed", () => {
  const host = new FakeHost();
  const wheel = wheelOn(host);
  const long = new Sleeper(0, () => {});
  wheel.wakeAt(long, 30_000);
  expect(host.holdsProcess).toBe(true);
  wheel.wakeAt(long, Number.POSITIVE_INFINITY);
  expect(host.holdsProcess).toBe(false);
  wheel.wakeAt(long, 40_000);
  expect(host.holdsProcess).toBe(true);
});

test("the process's own wheel keeps it alive while a wake is pending, and only then", async () => {
  const heldTimers = () => process.getActiveResourcesInfo().filter((r) => r === "Timeout").length;
  const before = heldTimers();
  const long = new Sleeper(0, () => {});
  systemTimers.wakeAt(long, performance.now() + 3_600_000);
  expect(heldTimers()).toBe(before + 1);
  systemTimers.wakeAt(long, Number.POSITIVE_INFINITY);
  expect(heldTimers()).toBe(before);
  const startMs = performance.now();
  const firedMs = await new Promise<number>((resolve) => {
    systemTimers.wakeAt(new Sleeper(1, (_, nowMs) => resolve(nowMs)), startMs + 5);
  });
  expect(firedMs).toBeGreaterThanOrEqual(startMs + 5);
  expect(heldTimers()).toBe(before);
});
