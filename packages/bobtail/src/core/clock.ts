/** A source of milliseconds that never goes back. The origin is arbitrary; fractions count. */
export interface Clock {
  nowMs(): number;
}

/** A thing that can be woken. The timer port owns the fields; `fire` is called at most once per arming. */
export abstract class Wakeable {
  /** Absolute time of the pending wake, in the clock's milliseconds; Infinity while none is pending. */
  wakeAtMs: number = Number.POSITIVE_INFINITY;
  timerNext: Wakeable | undefined = undefined;
  timerPrevious: Wakeable | undefined = undefined;
  timerSlot: number = -1;

  abstract fire(nowMs: number): void;
}

/** One pending wake a thing. Never early; as late as the host's timers are. */
export interface Timers {
  /** Replace the pending wake; Infinity removes it. O(1). */
  wakeAt(sleeper: Wakeable, atMs: number): void;
}
