import { assert } from "../core/assert.ts";
import type { Clock, Timers, Wakeable } from "../core/clock.ts";
import { systemClock } from "./system-clock.ts";

/** One turn takes 32.8 s, so that the default deadline of 30 s is met in its first turn. A power of two. */
const SLOT_COUNT = 32_768;
const SLOT_MASK = SLOT_COUNT - 1;
/** The slot number of what is due and about to fire. */
const DUE = SLOT_COUNT;
/** The host's longest timer; a longer wait is armed again on the way. */
const MAX_DELAY_MS = 2_147_483_647;

/** The host's one-shot timer, such as `setTimeout`. */
export interface TimerHost {
  arm(run: () => void, delayMs: number): HostTimer;
  disarm(timer: HostTimer): void;
}

/** `ref` and `unref` say whether the process stays alive for it. */
export interface HostTimer {
  ref(): unknown;
  unref(): unknown;
}

/**
 * A hashed timer wheel with slots of 1 ms: insert and remove in O(1) through the sleeper's own fields.
 *
 * Rounds up, at least one tick ahead, so it is never early. Fires in the order of the ticks, and within one
 * tick in the order of arming; what a leap of the clock over a whole turn (suspend) makes due fires once, in no
 * promised order. The host's timer is armed only while something waits, and for the next slot that
 * holds anything, so an idle wheel costs nothing and keeps no process alive.
 * Source: Varghese & Lauck, "Hashed and hierarchical timing wheels", SOSP 1987, scheme 6.
 */
export class TimerWheel implements Timers {
  /** How many sleepers wait. */
  size: number;
  private readonly clock: Clock;
  private readonly host: TimerHost;
  /** The youngest sleeper of each slot. */
  private readonly heads: (Wakeable | undefined)[];
  /** One bit a slot: set while it holds a sleeper. */
  private readonly occupied: Int32Array;
  /** The last tick whose slot was emptied; it lags while nothing waits, which is harmless. */
  private tick: number;
  private timer: HostTimer | undefined;
  /** The tick that the host's timer is armed for; Infinity without one. */
  private armedTick: number;
  private held: boolean;
  private readonly run: () => void;

  constructor(clock: Clock = systemClock, host: TimerHost = systemHost) {
    this.size = 0;
    this.clock = clock;
    this.host = host;
    this.heads = new Array<Wakeable | undefined>(SLOT_COUNT + 1).fill(undefined);
    this.occupied = new Int32Array(SLOT_COUNT / 32);
    this.tick = Math.floor(clock.nowMs());
    this.timer = undefined;
    this.armedTick = Number.POSITIVE_INFINITY;
    this.held = false;
    this.run = () => this.turn();
  }

  wakeAt(sleeper: Wakeable, atMs: number): void {
    if (sleeper.timerSlot >= 0) this.unlink(sleeper);
    else if (atMs === Number.POSITIVE_INFINITY) return;
    sleeper.wakeAtMs = atMs;
    if (atMs === Number.POSITIVE_INFINITY) {
      if (this.size === 0 && this.held) this.letGo();
      return;
    }
    assert(!Number.isNaN(atMs), "a wake has a time");
    const due = Math.ceil(atMs);
    const tick = due > this.tick ? due : this.tick + 1;
    this.link(sleeper, tick & SLOT_MASK);
    if (tick < this.armedTick) this.arm(tick);
    else if (!this.held) this.hold();
  }

  private link(sleeper: Wakeable, slot: number): void {
    const head = this.heads[slot];
    sleeper.timerSlot = slot;
    sleeper.timerNext = head;
    if (head === undefined) {
      if (slot !== DUE)
        this.occupied[slot >> 5] = (this.occupied[slot >> 5] as number) | (1 << slot);
    } else head.timerPrevious = sleeper;
    this.heads[slot] = sleeper;
    this.size++;
  }

  private unlink(sleeper: Wakeable): void {
    const slot = sleeper.timerSlot;
    const next = sleeper.timerNext;
    const previous = sleeper.timerPrevious;
    if (next !== undefined) next.timerPrevious = previous;
    if (previous !== undefined) previous.timerNext = next;
    else {
      this.heads[slot] = next;
      if (next === undefined && slot !== DUE)
        this.occupied[slot >> 5] = (this.occupied[slot >> 5] as number) & ~(1 << slot);
    }
    sleeper.timerNext = undefined;
    sleeper.timerPrevious = undefined;
    sleeper.timerSlot = -1;
    this.size--;
  }

  /** The host's timer rang: everything due fires, and the next slot in use is armed. */
  private turn(): void {
    this.timer = undefined;
    // Nothing is armed for what is put in on the way: the end of the turn looks at the whole wheel.
    this.armedTick = Number.NEGATIVE_INFINITY;
    const nowMs = this.clock.nowMs();
    try {
      // What a throw left behind the last time.
      if (this.heads[DUE] !== undefined) this.fireDue(nowMs);
      this.collect(Math.floor(nowMs));
      this.fireDue(nowMs);
    } finally {
      // Also when a `fire` threw: the others wait in the due list and are next.
      this.armedTick = Number.POSITIVE_INFINITY;
      this.held = false;
      if (this.size > 0) this.arm(this.heads[DUE] === undefined ? this.nextTick() : this.tick + 1);
    }
  }

  /** Off the wheel before it fires: what `fire` arms lands in a later slot, and what it removes is still here. */
  private fireDue(nowMs: number): void {
    for (let s = this.heads[DUE]; s !== undefined; s = this.heads[DUE]) {
      this.unlink(s);
      s.wakeAtMs = Number.POSITIVE_INFINITY;
      s.fire(nowMs);
    }
  }

  /** Moves what is due up to this tick to the due list, the latest first, because each is put before the others. */
  private collect(nowTick: number): void {
    if (nowTick <= this.tick) return;
    const count = Math.min(nowTick - this.tick, SLOT_COUNT);
    const first = nowTick - count + 1;
    for (let t = nowTick; t >= first; t--) {
      const slot = t & SLOT_MASK;
      const word = this.occupied[slot >> 5] as number;
      if (word === 0 && (slot & 31) === 31) t -= 31;
      else if ((word & (1 << slot)) !== 0) this.collectSlot(slot, nowTick);
    }
    this.tick = nowTick;
  }

  private collectSlot(slot: number, nowTick: number): void {
    for (let s = this.heads[slot]; s !== undefined; ) {
      const next: Wakeable | undefined = s.timerNext;
      if (Math.ceil(s.wakeAtMs) <= nowTick) {
        this.unlink(s);
        this.link(s, DUE);
      }
      s = next;
    }
  }

  /** The tick of the next slot in use; its sleepers may belong to a later turn, which one early look finds out. */
  private nextTick(): number {
    const from = this.tick + 1;
    const start = from & SLOT_MASK;
    let index = start >> 5;
    // The first word counts from the start's own bit on; its other bits come last, a whole turn later.
    let word = (this.occupied[index] as number) & (-1 << (start & 31));
    for (let looked = 0; looked <= SLOT_COUNT / 32; looked++) {
      if (word !== 0) {
        const slot = (index << 5) + 31 - Math.clz32(word & -word);
        return from + ((slot - start) & SLOT_MASK);
      }
      index = (index + 1) & (SLOT_COUNT / 32 - 1);
      word = this.occupied[index] as number;
    }
    return Number.POSITIVE_INFINITY;
  }

  private arm(tick: number): void {
    if (this.timer !== undefined) this.host.disarm(this.timer);
    const delayMs = Math.ceil(tick - this.clock.nowMs());
    this.timer = this.host.arm(this.run, Math.min(Math.max(delayMs, 1), MAX_DELAY_MS));
    this.armedTick = tick;
    this.held = true;
  }

  private hold(): void {
    this.held = true;
    this.timer?.ref();
  }

  /** Nothing waits: the timer may still ring, but keeps no process alive for it. */
  private letGo(): void {
    this.held = false;
    this.timer?.unref();
  }
}

const systemHost: TimerHost = {
  arm: (run, delayMs) => setTimeout(run, delayMs),
  disarm: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** The process's one wheel: every client shares it. */
export const systemTimers: Timers = new TimerWheel();
