import type { Attempt } from "../policies/attempt.ts";
import { Call } from "../policies/call.ts";
import type { CallMachine } from "../policies/call-machine.ts";
import type { LatencyClass } from "../policies/hedger.ts";
import { Job } from "../policies/queue.ts";
import type { WakeLane } from "./wake-lane.ts";

/** A request of the user that waits for several leaf calls. */
export class Root {
  readonly startMs: number;
  readonly measured: boolean;
  waiting: number;
  failed: number;

  constructor(startMs: number, measured: boolean, leaves: number) {
    this.startMs = startMs;
    this.measured = measured;
    this.waiting = leaves;
    this.failed = 0;
  }

  /** One of its calls is over. @returns whether it was the last. */
  leafSettled(failed: boolean): boolean {
    if (failed) this.failed++;
    return --this.waiting === 0;
  }
}

/** What the world keeps of one call: the call's host, and its place among the pending wakes. One shape. */
export class Request {
  sizeMs: number;
  priority: number;
  measured: boolean;
  machine: CallMachine;
  root: Root | undefined;
  readonly call: Call;
  lane: WakeLane | undefined;
  dueMs: number;
  previous: Request | undefined;
  next: Request | undefined;
  /** Its own event, where no lane takes it; -1: none. */
  event: number;

  constructor(cls: LatencyClass, machine: CallMachine) {
    this.sizeMs = 0;
    this.priority = 0;
    this.measured = false;
    this.machine = machine;
    this.root = undefined;
    this.call = new Call(cls, this);
    this.lane = undefined;
    this.dueMs = 0;
    this.previous = undefined;
    this.next = undefined;
    this.event = -1;
  }
}

/** Requests that are over, for those that come: a run of millions makes little garbage. A list through `next`. */
export class RequestPool {
  private first: Request | undefined;

  constructor() {
    this.first = undefined;
  }

  take(cls: LatencyClass, machine: CallMachine): Request {
    const request = this.first;
    if (request === undefined) return new Request(cls, machine);
    this.first = request.next;
    request.next = undefined;
    request.machine = machine;
    request.call.renew(cls);
    return request;
  }

  /**
   * Its only copy was answered or refused, so that no server, message or wake knows of it any more; others are left to
   * the collector. A copy that was given up may still be at its server.
   */
  give(request: Request): void {
    const { failure, launched, last } = request.call;
    if (launched !== 1 || (failure !== undefined && failure !== "all-failed")) return;
    if (last?.timedOut === true) return;
    request.next = this.first;
    this.first = request;
  }
}

/** The piece of work that a copy is at its server; the first copy of a renewed call has one already. */
export function jobOf(a: Attempt): Job {
  const spare = a.host as Job | undefined;
  if (spare !== undefined) {
    spare.renew();
    return spare;
  }
  const job = new Job(a);
  a.host = job;
  return job;
}

export function machineOf(a: Attempt): CallMachine {
  return (a.call.host as Request).machine;
}
