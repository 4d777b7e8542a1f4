/** Why an extra copy was wanted and not sent. */
export type SkipReason =
  | "budget"
  | "not_idempotent"
  | "not_replayable"
  | "deadline"
  | "no_alternative"
  | "upper_level"
  | "pushback";

/** Counters of one service since it started. Plain numbers: read them at any time, derive rates outside. */
export interface ServiceStats {
  calls: number;
  /** Settled with a reply / with an error / given up by the caller. */
  succeeded: number;
  failed: number;
  aborted: number;
  shed: number;
  deadlineExceeded: number;
  /** Calls not settled yet, and those of them that wait for a free endpoint. */
  running: number;
  pending: number;
  attempts: number;
  hedges: number;
  hedgesWon: number;
  retries: number;
  retriesWon: number;
  /** First copies sent anew, because the one before could not be placed or reached no server: load of nobody. */
  replaced: number;
  skipped: Record<SkipReason, number>;
}

export function emptyStats(): ServiceStats {
  return {
    calls: 0,
    succeeded: 0,
    failed: 0,
    aborted: 0,
    shed: 0,
    deadlineExceeded: 0,
    running: 0,
    pending: 0,
    attempts: 0,
    hedges: 0,
    hedgesWon: 0,
    retries: 0,
    retriesWon: 0,
    replaced: 0,
    skipped: {
      budget: 0,
      not_idempotent: 0,
      not_replayable: 0,
      deadline: 0,
      no_alternative: 0,
      upper_level: 0,
      pushback: 0,
    },
  };
}
