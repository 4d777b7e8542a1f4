import type { Call } from "./call.ts";

/** Calls that wait for a free endpoint, first come first served. Bounded; any of them leaves in O(1). */
export class PendingQueue {
  readonly max: number;
  first: Call | undefined;
  private last: Call | undefined;
  private readonly stats: { pending: number };

  /** @param stats - where the calls that wait are counted. */
  constructor(max: number, stats: { pending: number }) {
    this.max = max;
    this.stats = stats;
    this.first = undefined;
    this.last = undefined;
  }

  get size(): number {
    return this.stats.pending;
  }

  /** False when the queue is full. */
  put(c: Call): boolean {
    if (this.size >= this.max) return false;
    c.pendingPrevious = this.last;
    c.pendingNext = undefined;
    if (this.last === undefined) this.first = c;
    else this.last.pendingNext = c;
    this.last = c;
    this.stats.pending++;
    return true;
  }

  /** To the head again, from where it was just taken. */
  putBack(c: Call): void {
    c.pendingPrevious = undefined;
    c.pendingNext = this.first;
    if (this.first === undefined) this.last = c;
    else this.first.pendingPrevious = c;
    this.first = c;
    this.stats.pending++;
  }

  remove(c: Call): void {
    if (c.pendingPrevious === undefined) this.first = c.pendingNext;
    else c.pendingPrevious.pendingNext = c.pendingNext;
    if (c.pendingNext === undefined) this.last = c.pendingPrevious;
    else c.pendingNext.pendingPrevious = c.pendingPrevious;
    c.pendingPrevious = undefined;
    c.pendingNext = undefined;
    this.stats.pending--;
  }
}
