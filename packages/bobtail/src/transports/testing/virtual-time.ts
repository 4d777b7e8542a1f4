import { assert } from "../../core/assert.ts";
import { type Clock, type Timers, Wakeable } from "../../core/clock.ts";
import { checkOption } from "../../core/errors.ts";

/** More wakes than this in one `advance` or `run` is a test that feeds itself. */
const MAX_WAKES = 1_000_000;

/**
 * A clock that moves only when told to, and timers that go by it: a client on both lives through an
 * hour in a moment, the same way each time. What is not on it (sockets, `setTimeout`) does not wait.
 */
export function virtualTime(options: { readonly startMs?: number | undefined } = {}): VirtualTime {
  const { startMs = 0 } = options;
  checkOption({ startMs }, "milliseconds >= 0", startMs >= 0 && startMs < Number.POSITIVE_INFINITY);
  return new VirtualTime(startMs);
}

/** Made by {@link virtualTime}; it is a `Clock` and `Timers` in one. */
export class VirtualTime implements Clock, Timers {
  private atMs: number;
  /** By time, and by order of arming within one. */
  private readonly sleepers: Wakeable[];

  constructor(startMs: number) {
    this.atMs = startMs;
    this.sleepers = [];
  }

  nowMs(): number {
    return this.atMs;
  }

  /** How many wakes are pending. */
  get pendingCount(): number {
    return this.sleepers.length;
  }

  wakeAt(sleeper: Wakeable, atMs: number): void {
    assert(!Number.isNaN(atMs), "a wake has a time");
    if (sleeper.timerSlot >= 0) {
      this.sleepers.splice(this.sleepers.indexOf(sleeper), 1);
      sleeper.timerSlot = -1;
    }
    sleeper.wakeAtMs = atMs;
    if (atMs === Number.POSITIVE_INFINITY) return;
    let index = this.sleepers.length;
    while (index > 0 && (this.sleepers[index - 1] as Wakeable).wakeAtMs > atMs) index--;
    this.sleepers.splice(index, 0, sleeper);
    sleeper.timerSlot = 0;
  }

  /** A promise that resolves that many ms from now, or rejects with the signal's reason before. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const sleeper = new Sleeper(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      });
      const stop = (): void => {
        this.wakeAt(sleeper, Number.POSITIVE_INFINITY);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", stop, { once: true });
      this.wakeAt(sleeper, this.atMs + delayMs);
    });
  }

  /** Moves the clock on, firing what is due on the way and letting promises run after each. */
  async advance(durationMs: number): Promise<void> {
    checkOption(
      { durationMs },
      "milliseconds >= 0",
      durationMs >= 0 && durationMs < Number.POSITIVE_INFINITY,
    );
    const untilMs = this.atMs + durationMs;
    await settlePromises();
    for (let wakes = 0; ; wakes++) {
      checkWakes(wakes);
      const next = this.sleepers[0];
      if (next === undefined || next.wakeAtMs > untilMs) break;
      await this.fireNext();
    }
    this.atMs = untilMs;
  }

  /** Moves the clock from wake to wake until none is pending. */
  async runUntilIdle(): Promise<void> {
    await settlePromises();
    for (let wakes = 0; this.sleepers.length > 0; wakes++) {
      checkWakes(wakes);
      await this.fireNext();
    }
  }

  /** Moves the clock from wake to wake until the promise is settled, and passes it on. Throws if nothing is left that could settle it. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const note = (): void => {
      settled = true;
    };
    promise.then(note, note);
    await settlePromises();
    for (let wakes = 0; !settled; wakes++) {
      checkWakes(wakes);
      if (this.sleepers.length === 0)
        throw new Error("virtual time stands still: the promise is pending and no wake is");
      await this.fireNext();
    }
    return promise;
  }

  private async fireNext(): Promise<void> {
    const next = this.sleepers.shift() as Wakeable;
    this.atMs = Math.max(this.atMs, next.wakeAtMs);
    next.timerSlot = -1;
    next.wakeAtMs = Number.POSITIVE_INFINITY;
    next.fire(this.atMs);
    await settlePromises();
  }
}

class Sleeper extends Wakeable {
  private readonly wake: () => void;

  constructor(wake: () => void) {
    super();
    this.wake = wake;
  }

  override fire(): void {
    this.wake();
  }
}

/** Every promise reaction that can run has run when the host comes to its next turn. */
function settlePromises(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function checkWakes(count: number): void {
  if (count < MAX_WAKES) return;
  throw new Error(`virtual time fired ${MAX_WAKES} wakes without coming to an end`);
}
