/**
 * Counts of one backend since it started or was reset; a restart by fault keeps them. Health checks are not counted.
 *
 * `received = failed + silenced + reset + refused + timedOut + cancelledQueued + lostQueued + queued + started`, and
 * `started = running + served + lostRunning`, plus `cancelledRunning` where the fleet aborts running work.
 */
export interface BackendCounts {
  received: number;
  /** Of them: carried the header `bobtail-attempt`, so were hedges or retries that say so. */
  marked: number;
  /** Given to a worker, ended or not. */
  started: number;
  served: number;
  /** By a fault, without a worker: answered with an error, never answered to the end, connection reset. */
  failed: number;
  silenced: number;
  reset: number;
  /** Waited longer than the limit / found the queue full: both were answered 503. */
  timedOut: number;
  refused: number;
  /** The client went away while the request waited / while it ran. */
  cancelledQueued: number;
  cancelledRunning: number;
  /** Waited / ran when the backend died. */
  lostQueued: number;
  lostRunning: number;
  queued: number;
  running: number;
}

export function emptyCounts(): BackendCounts {
  return {
    received: 0,
    marked: 0,
    started: 0,
    served: 0,
    failed: 0,
    silenced: 0,
    reset: 0,
    timedOut: 0,
    refused: 0,
    cancelledQueued: 0,
    cancelledRunning: 0,
    lostQueued: 0,
    lostRunning: 0,
    queued: 0,
    running: 0,
  };
}
