import type { Attempt } from "../policies/attempt.ts";
import type { Call } from "../policies/call.ts";
import type { CallMachine } from "../policies/call-machine.ts";
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
}

export interface RequestSetup {
  readonly sizeMs: number;
  readonly priority: number;
  readonly machine: CallMachine;
  readonly root: Root | undefined;
  readonly measured: boolean;
}

/** What the world keeps of one call: the call's host, and its place among the pending wakes. One shape. */
export class Request {
  readonly sizeMs: number;
  readonly priority: number;
  readonly measured: boolean;
  readonly machine: CallMachine;
  readonly root: Root | undefined;
  call: Call | undefined;
  lane: WakeLane | undefined;
  dueMs: number;
  previous: Request | undefined;
  next: Request | undefined;
  /** Its own event, where no lane takes it; -1: none. */
  event: number;

  constructor(setup: RequestSetup) {
    this.sizeMs = setup.sizeMs;
    this.priority = setup.priority;
    this.measured = setup.measured;
    this.machine = setup.machine;
    this.root = setup.root;
    this.call = undefined;
    this.lane = undefined;
    this.dueMs = 0;
    this.previous = undefined;
    this.next = undefined;
    this.event = -1;
  }
}

export function machineOf(a: Attempt): CallMachine {
  return (a.call.host as Request).machine;
}
