import type { MessagePort } from "node:worker_threads";
import type { LoadPlan } from "../load-plan.ts";

/** What a pacing thread is given. */
export interface PacerOrder {
  /** Without targets: it knows when, not what. */
  readonly plan: LoadPlan;
  /** One a sender; a message on it means that something is due. */
  readonly ports: readonly MessagePort[];
  /** One a sender: 1 while a message is under way that it has not heard. */
  readonly flags: Int32Array;
  /** One a sender: the ordinal of the next request that it has not sent. */
  readonly progress: Int32Array;
  /** {@link STATE} at 0. */
  readonly control: Int32Array;
  /** At 0: the start of the run on the monotonic clock. */
  readonly startMs: Float64Array;
}

export const STATE = { waiting: 0, running: 1, stopped: 2 } as const;

/** Wakes before the run, a millisecond apart, that show how late the pacing is when there is nothing else to do. */
export const PROBE_COUNT = 64;
export const PROBE_GAP_MS = 1;

/** From the order to start to the first moment of a run: its probes, and what the threads need to hear it. */
export const START_LEAD_MS: number = PROBE_COUNT * PROBE_GAP_MS + 10;
