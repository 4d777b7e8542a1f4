import type { Attempt, AttemptOutcome } from "./attempt.ts";
import type { Call, CallFailure } from "./call.ts";
import type { CallObserver } from "./observer.ts";
import type { CallPolicy } from "./port.ts";
import type { ServiceStats, SkipReason } from "./stats.ts";

/**
 * The counts of what is under way: every call and every attempt enters once and leaves once, whatever
 * ends it; an attempt on its way out teaches the balancer, the hedger and the budget what it saw.
 */
export class Ledger {
  /** Attempts of the service that have not ended. */
  outstanding: number;
  private readonly policy: CallPolicy;
  private readonly stats: ServiceStats;
  private readonly observer: CallObserver | undefined;
  /** Whether anything will ever ask how long primaries take. */
  private readonly learns: boolean;

  constructor(policy: CallPolicy, stats: ServiceStats, observer: CallObserver | undefined) {
    this.outstanding = 0;
    this.policy = policy;
    this.stats = stats;
    this.observer = observer;
    this.learns = policy.hedger.max > 0 || policy.maxRetries > 0;
  }

  enter(): void {
    this.stats.calls++;
    this.stats.running++;
  }

  leave(c: Call, nowMs: number): void {
    const { stats } = this;
    stats.running--;
    if (c.failure === undefined) stats.succeeded++;
    else this.leaveFailed(c.failure);
    if (this.observer !== undefined) this.observer.settled?.(c, nowMs);
  }

  private leaveFailed(failure: CallFailure): void {
    const { stats } = this;
    if (failure === "aborted") stats.aborted++;
    else {
      stats.failed++;
      if (failure === "deadline") stats.deadlineExceeded++;
      else if (failure === "shed") stats.shed++;
    }
  }

  /** An extra copy was wanted and is not sent; false, for the caller to return. */
  skip(c: Call, reason: SkipReason, nowMs: number): false {
    c.skip = reason;
    this.stats.skipped[reason]++;
    this.observer?.skipped?.(c, reason, nowMs);
    return false;
  }

  /** Counted from the pick, before anything is sent. */
  begin(a: Attempt, nowMs: number): void {
    const c = a.call;
    const e = a.endpoint;
    c.last = a;
    c.launched++;
    c.running++;
    this.outstanding++;
    e.outstanding++;
    e.work += c.cost;
    e.waiting++;
    e.waitingSinceSumMs += nowMs;
    e.picks++;
    this.stats.attempts++;
    if (c.launched > 1) this.beginExtra(a);
    if (this.observer !== undefined) this.observer.launched?.(a, nowMs);
  }

  private beginExtra(a: Attempt): void {
    const c = a.call;
    if (a.kind === "hedge") {
      c.hedges++;
      this.stats.hedges++;
    } else if (a.kind === "retry") {
      c.retries++;
      this.stats.retries++;
    } else this.stats.replaced++;
  }

  /** The attempt won: it waits no longer, and counts until its body is here. */
  win(a: Attempt, nowMs: number): void {
    this.answered(a, "win", nowMs);
    a.endpoint.wins++;
    if (a.kind === "primary") this.learn(a, false, nowMs);
    else if (a.kind === "hedge") this.stats.hedgesWon++;
    else this.stats.retriesWon++;
    if (this.observer !== undefined) this.observer.committed?.(a, nowMs);
  }

  end(a: Attempt, outcome: AttemptOutcome, nowMs: number): void {
    const e = a.endpoint;
    a.running = false;
    a.outcome = outcome;
    a.call.running--;
    this.outstanding--;
    e.outstanding--;
    e.work = e.outstanding === 0 ? 0 : e.work - a.call.cost;
    // Not at the commit: a call whose body breaks has not succeeded, and must not pay for more load.
    if (outcome === "win") this.policy.budget.deposit(nowMs);
    else this.endInVain(a, outcome, nowMs);
    if (this.observer !== undefined) this.observer.ended?.(a, nowMs);
  }

  private endInVain(a: Attempt, outcome: AttemptOutcome, nowMs: number): void {
    const e = a.endpoint;
    if (a.latencyMs < 0) {
      this.answered(a, outcome, nowMs);
      // How soon a failure came says nothing of how long an answer takes; having waited in vain does.
      const censored = outcome === "superseded" || outcome === "cancelled" || a.timedOut;
      if (censored && a.kind === "primary") this.learn(a, true, nowMs);
    } else if (outcome === "failed") this.policy.balancer.observe(e, a.latencyMs, "failed", nowMs);
    if (outcome === "failed") {
      e.failures++;
      // A copy that reached no server was no load, and says nothing of one.
      if (!a.unsent) this.policy.budget.failure(nowMs);
    } else if (outcome === "superseded") {
      e.superseded++;
      e.wastedMs += a.latencyMs;
    }
  }

  /** A copy that could not be placed leaves the call and the budget as if it had never been wanted. */
  refund(a: Attempt): void {
    if (a.kind === "primary") return;
    if (a.kind === "hedge") a.call.hedges--;
    else a.call.retries--;
    this.policy.budget.refund();
  }

  private answered(a: Attempt, outcome: AttemptOutcome, nowMs: number): void {
    const e = a.endpoint;
    e.waiting--;
    e.waitingSinceSumMs = e.waiting === 0 ? 0 : e.waitingSinceSumMs - a.startMs;
    a.latencyMs = nowMs - a.startMs;
    this.policy.balancer.observe(e, a.latencyMs, outcome, nowMs);
  }

  private learn(a: Attempt, censored: boolean, nowMs: number): void {
    if (this.learns) this.policy.hedger.record(a.call.cls, a.latencyMs, censored, nowMs);
  }
}
