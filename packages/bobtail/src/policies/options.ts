/**
 * One service's policy, as plain data. The same shape as a service in the policy file
 * (there `after: 12ms`, here `afterMs: 12`); what it means does not depend on any order.
 */
export interface ServiceOptions {
  readonly balance?: BalanceOptions | undefined;
  /** Absent: no call is hedged. */
  readonly hedge?: HedgeOptions | undefined;
  readonly budget?: BudgetOptions | undefined;
  readonly retry?: RetryOptions | undefined;
  /** A call may take this long in all; above 0, in ms, default 30,000. There is always one. */
  readonly deadlineMs?: number | undefined;
  readonly timeout?: TimeoutOptions | undefined;
  readonly limit?: LimitOptions | undefined;
}

export type BalancePolicy = "round-robin" | "random" | "least" | "two-choices";
export type LoadSignal = "outstanding" | "work" | "peak-ewma";

export interface BalanceOptions {
  /** Default `two-choices`. `least` scans, so at most 64 endpoints. */
  readonly policy?: BalancePolicy | undefined;
  /** What `least` and `two-choices` compare; default `peak-ewma`. */
  readonly load?: LoadSignal | undefined;
  /** How many distinct endpoints `two-choices` draws; a whole number in [2, 8], default 2. */
  readonly choices?: number | undefined;
  /** Weigh failures: load / (1 - error share)^4, whatever the policy; default true. False is for baselines. */
  readonly errorPenalty?: boolean | undefined;
  /** Time constant with which an unused estimate fades, so that a shunned endpoint is tried again; ms above 0, default 10,000. */
  readonly decayMs?: number | undefined;
}

/** A quantile of the class's own primary latencies, between a floor and a ceiling. */
export interface QuantileDelay {
  /** In (0, 1): 0.97 waits until 97 of 100 calls have been answered. 95 is a percentage, not a quantile. */
  readonly quantile: number;
}

export interface HedgeOptions {
  /**
   * How long a copy is waited for before the next is sent: milliseconds from a quiet period's log (>= 0),
   * a live quantile, or `auto`: the smallest delay whose expected copies are at most 0.7 of the budget.
   */
  readonly afterMs: number | QuantileDelay | "auto";
  /** Extra copies a call; a whole number in [1, 4], default 1. */
  readonly max?: number | undefined;
  /** An adaptive delay is never below; ms >= 0, default 1. */
  readonly floorMs?: number | undefined;
  /** An adaptive delay is never above; ms >= floorMs; default 4 x floorMs when a floor is given, else 10,000. */
  readonly ceilingMs?: number | undefined;
  /** An adaptive delay needs this many primaries in its window before the first copy; a whole number >= 20, default 100. */
  readonly minSamples?: number | undefined;
}

export interface BudgetOptions {
  /** Extra attempts earned by each successful call; a ratio in [0, 2], default 0.1. */
  readonly extraRatio?: number | undefined;
  /** Extra attempts that may be saved up; a whole number in [1, 10,000], default 10. Starts full; hedges leave the last quarter to retries. */
  readonly burstCount?: number | undefined;
  /** Extra attempts a second earned by time alone, for services with few calls; in [0, 1,000], default 0. */
  readonly minPerSecond?: number | undefined;
  /** No more extra attempts a second than this, whatever was earned; above 0, default Infinity. */
  readonly maxPerSecond?: number | undefined;
}

export interface RetryOptions {
  /** Copies sent because one failed; a whole number in [0, 8], default 1. */
  readonly max?: number | undefined;
  /**
   * What counts as a failure that another replica may cure. Default `connect-failure`, `reset`, 502, 503, 504.
   * HTTP statuses, `connect-failure` (nothing was sent) and `reset` (the connection broke before an answer).
   */
  readonly on?: readonly (number | "connect-failure" | "reset")[] | undefined;
}

export interface TimeoutOptions {
  /** To open a connection; ms above 0, default 1,000. */
  readonly connectMs?: number | undefined;
  /** From an attempt's launch to its answer; ms above 0, default Infinity (the deadline holds). */
  readonly attemptMs?: number | undefined;
  /** Between two pieces of a reply's body; ms above 0, default 10,000. */
  readonly bodyIdleMs?: number | undefined;
  /** How long an idle connection is kept; ms above 0, default 60,000. */
  readonly keepAliveMs?: number | undefined;
}

export interface LimitOptions {
  /** Attempts of the service at one time; a whole number >= 1, default 1,024. */
  readonly outstanding?: number | undefined;
  /** Attempts at one endpoint at one time; a whole number >= 1, default 128. */
  readonly perEndpoint?: number | undefined;
  /** Calls that wait when every endpoint is full; a whole number >= 0, default 256. More are refused. */
  readonly pending?: number | undefined;
  /** Request bodies up to this are kept so that they can be sent again; bytes >= 0, default 65,536. */
  readonly replayBodyBytes?: number | undefined;
}
