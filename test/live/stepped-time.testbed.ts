import { type Clock, type Timers, Wakeable } from "../../packages/bobtail/src/engine.ts";

/** A clock that stands still between events, and takes them one at a time: the caller decides when the next one is due. */
export class SteppedTime implements Clock, Timers {
  private atMs = 0;
  /** By time, and by order of arming within one. */
  private readonly sleepers: Wakeable[] = [];

  nowMs(): number {
    return this.atMs;
  }

  get pending(): number {
    return this.sleepers.length;
  }

  wakeAt(sleeper: Wakeable, atMs: number): void {
    const known = this.sleepers.indexOf(sleeper);
    if (known !== -1) this.sleepers.splice(known, 1);
    sleeper.wakeAtMs = atMs;
    if (atMs === Number.POSITIVE_INFINITY) return;
    let index = this.sleepers.length;
    while (index > 0 && (this.sleepers[index - 1] as Wakeable).wakeAtMs > atMs) index--;
    this.sleepers.splice(index, 0, sleeper);
  }

  /** Calls back at that time. Returns what takes it back. */
  at(atMs: number, action: () => void): () => void {
    const sleeper = new Action(action);
    this.wakeAt(sleeper, atMs);
    return () => this.wakeAt(sleeper, Number.POSITIVE_INFINITY);
  }

  /** Moves to the next event and lets it happen. */
  step(): void {
    const next = this.sleepers.shift() as Wakeable;
    this.atMs = next.wakeAtMs;
    next.wakeAtMs = Number.POSITIVE_INFINITY;
    next.fire(this.atMs);
  }
}

class Action extends Wakeable {
  private readonly action: () => void;

  constructor(action: () => void) {
    super();
    this.action = action;
  }

  override fire(): void {
    this.action();
  }
}
