import { LANE, WAKE } from "./event-codes.ts";
import type { EventQueue } from "./event-queue.ts";
import type { Request } from "./request.ts";
import { WakeLane } from "./wake-lane.ts";

/** The one pending wake of each call. */
export class Wakes {
  private readonly events: EventQueue;
  private readonly deadlines: WakeLane;
  private readonly others: WakeLane;

  constructor(events: EventQueue) {
    this.events = events;
    this.deadlines = new WakeLane(events, LANE);
    this.others = new WakeLane(events, LANE);
  }

  /** Replaces the wake before it; Infinity: none. Deadlines have a lane of their own, being far away and in order. */
  set(r: Request, atMs: number, isDeadline: boolean): void {
    if (r.lane !== undefined || r.event >= 0) this.drop(r);
    if (atMs === Number.POSITIVE_INFINITY) return;
    const lane = isDeadline ? this.deadlines : this.others;
    if (!lane.put(r, atMs)) r.event = this.events.push(atMs, WAKE, r);
  }

  drop(r: Request): void {
    if (r.lane !== undefined) r.lane.remove(r);
    else if (r.event >= 0) this.dropEvent(r);
  }

  private dropEvent(r: Request): void {
    this.events.remove(r.event);
    r.event = -1;
  }
}
