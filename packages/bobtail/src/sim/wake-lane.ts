import type { EventQueue } from "./event-queue.ts";
import type { Request } from "./request.ts";

/** Further out of order than this, a wake is an event of its own. */
const MAX_STEPS = 4;

/**
 * Wakes that come due in nearly the order in which they were set, since each waits about as long: the deadlines
 * of one service, or its hedge delays. A list with one event for all of them, which is armed late rather than
 * moved: to set a wake and to drop it costs a few stores, and nearly every wake is dropped.
 */
export class WakeLane {
  private readonly events: EventQueue;
  private readonly code: number;
  private first: Request | undefined;
  private last: Request | undefined;
  private event: number;
  private armedAtMs: number;

  constructor(events: EventQueue, code: number) {
    this.events = events;
    this.code = code;
    this.first = undefined;
    this.last = undefined;
    this.event = -1;
    this.armedAtMs = Number.POSITIVE_INFINITY;
  }

  /** False, with nothing done, when it is too far out of order. */
  put(r: Request, dueMs: number): boolean {
    let after = this.last;
    let before: Request | undefined;
    for (let steps = 0; after !== undefined && after.dueMs > dueMs; steps++) {
      if (steps === MAX_STEPS) return false;
      before = after;
      after = after.previous;
    }
    r.lane = this;
    r.dueMs = dueMs;
    r.previous = after;
    r.next = before;
    if (after === undefined) this.first = r;
    else after.next = r;
    if (before === undefined) this.last = r;
    else before.previous = r;
    if (dueMs < this.armedAtMs) this.arm(dueMs);
    return true;
  }

  /** The event stays where it is: if it comes too early for what is left, it is armed again. */
  remove(r: Request): void {
    if (r.previous === undefined) this.first = r.next;
    else r.previous.next = r.next;
    if (r.next === undefined) this.last = r.previous;
    else r.next.previous = r.previous;
    r.previous = undefined;
    r.next = undefined;
    r.lane = undefined;
  }

  /** Its event has come: the next request that is due, taken out; or none, and the event is armed for the first that will be. */
  due(nowMs: number): Request | undefined {
    const r = this.first;
    if (r !== undefined && r.dueMs <= nowMs) {
      this.remove(r);
      return r;
    }
    this.armedAtMs = Number.POSITIVE_INFINITY;
    this.event = -1;
    if (r !== undefined) this.arm(r.dueMs);
    return undefined;
  }

  private arm(atMs: number): void {
    if (this.event >= 0) this.events.remove(this.event);
    this.armedAtMs = atMs;
    this.event = this.events.push(atMs, this.code, this);
  }
}
