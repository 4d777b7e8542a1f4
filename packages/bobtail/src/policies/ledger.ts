import type { Attempt, AttemptOutcome } from "./attempt.ts";
import type { Call } from "./call.ts";
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

  constructor(policy: CallPolicy, stats: ServiceStats, observer: CallObserver | undefined) {
    this.outstanding = 0;
    this.policy = policy;
    this.stats = stats;
    this.observer = observer;
  }

  enter(): void {
    this.stats.calls++;
    this.stats.running++;
  }

  leave(c: Call, nowMs: number): void {
    const { stats } = this;
    stats.running--;
    if (c.failure === undefined) stats.succeeded++;
    else if (c.failure === "aborted") stats.aborted++;
    else {
      stats.failed++;
      if (c.failure === "deadline") stats.deadlineExceeded++;
      else if (c.failure === "shed") stats.shed++;
    }
    this.observer?.settled?.(c, nowMs);
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
    if (a.kind === "hedge") {
      c.hedges++;
      this.stats.hedges++;
    } else if (a.kind === "retry") {
      c.retries++;
      this.stats.retries++;
    } else if (c.launched > 1) this.stats.replaced++;
    this.observer?.launched?.(a, nowMs);
  }

  /** The attempt won: it waits no longer, and counts until its body is here. */
  win(a: Attempt, nowMs: number): void {
    this.answered(a, "win", nowMs);
    a.endpoint.wins++;
    if (a.kind === "hedge") this.stats.hedgesWon++;
    else if (a.kind === "retry") this.stats.retriesWon++;
    this.observer?.committed?.(a, nowMs);
  }

  end(a: Attempt, outcome: AttemptOutcome, nowMs: number): void {
    const e = a.endpoint;
    a.running = false;
    a.outcome = outcome;
    a.call.running--;
    this.outstanding--;
    e.outstanding--;
    e.work = e.outstanding === 0 ? 0 : e.work - a.call.cost;
    if (a.latencyMs < 0) this.answered(a, outcome, nowMs);
    else if (outcome === "failed") this.policy.balancer.observe(e, a.latencyMs, "failed", nowMs);
    // Not at the commit: a call whose body breaks has not succeeded, and must not pay for more load.
    if (outcome === "win") this.policy.budget.deposit(nowMs);
    else if (outcome === "failed") {
      e.failures++;
      // A copy that reached no server was no load, and says nothing of one.
      if (!a.unsent) this.policy.budget.failure(nowMs);
    } else if (outcome === "superseded") {
      e.superseded++;
      e.wastedMs += a.latencyMs;
    }
    this.observer?.ended?.(a, nowMs);
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
    if (a.kind !== "primary") return;
    // How soon a failure came says nothing of how long an answer takes; having waited in vain does.
    const censored = outcome === "superseded" || outcome === "cancelled" || a.timedOut;
    if (censored || outcome === "win")
      this.policy.hedger.record(a.call.cls, a.latencyMs, censored, nowMs);
  }
}
