import type { Call } from "./call.ts";

/** Calls that wait for a free endpoint, first come first served. Bounded; any of them leaves in O(1). */
export class PendingQueue {
  readonly max: number;
  size: number;
  first: Call | undefined;
  private last: Call | undefined;

  constructor(max: number) {
    this.max = max;
    this.size = 0;
    this.first = undefined;
    this.last = undefined;
  }

  /** False when the queue is full. */
  put(c: Call): boolean {
    if (this.size >= this.max) return false;
    c.pendingPrevious = this.last;
    c.pendingNext = undefined;
    if (this.last === undefined) this.first = c;
    else this.last.pendingNext = c;
    this.last = c;
    this.size++;
    return true;
  }

  /** To the head again, from where it was just taken. */
  putBack(c: Call): void {
    c.pendingPrevious = undefined;
    c.pendingNext = this.first;
    if (this.first === undefined) this.last = c;
    else this.first.pendingPrevious = c;
    this.first = c;
    this.size++;
  }

  remove(c: Call): void {
    if (c.pendingPrevious === undefined) this.first = c.pendingNext;
    else c.pendingPrevious.pendingNext = c.pendingNext;
    if (c.pendingNext === undefined) this.last = c.pendingPrevious;
    else c.pendingNext.pendingPrevious = c.pendingPrevious;
    c.pendingPrevious = undefined;
    c.pendingNext = undefined;
    this.size--;
  }
}
