import { assert } from "../core/assert.ts";
import { BobtailError } from "../core/errors.ts";
import { Attempt, type AttemptKind, type AttemptOutcome } from "./attempt.ts";
import type { Call, CallFailure } from "./call.ts";
import { afterFailure, hedgeDueMs } from "./extra.ts";
import { Ledger } from "./ledger.ts";
import type { CallObserver } from "./observer.ts";
import { PendingQueue } from "./pending-queue.ts";
import type { CallPolicy, Port } from "./port.ts";
import { emptyStats, type ServiceStats, type SkipReason } from "./stats.ts";

/** No call ever launches more, whatever fails in whatever way. */
const MAX_LAUNCHES = 32;

/**
 * One logical call as a synchronous state machine: no clock, no promise, no I/O.
 *
 * It owns the order of things: pick, counts, hedge timer, early failure, retry, budget, deadline,
 * commit, cancel of losers, settle. State is set before the port is called, and a send is the last
 * statement of a launch, because a port may answer inside `send` and `cancel`.
 */
export class CallMachine {
  readonly policy: CallPolicy;
  readonly stats: ServiceStats;
  private readonly port: Port;
  private readonly observer: CallObserver | undefined;
  private readonly pending: PendingQueue;
  private readonly ledger: Ledger;
  private admitting: boolean;

  constructor(policy: CallPolicy, port: Port, observer?: CallObserver) {
    this.policy = policy;
    this.stats = emptyStats();
    this.port = port;
    this.observer = observer;
    this.pending = new PendingQueue(policy.maxPending);
    this.ledger = new Ledger(policy, this.stats, observer);
    this.admitting = false;
  }

  start(c: Call, nowMs: number): void {
    assert(c.state === "new", "a call starts once");
    c.state = "running";
    c.startMs = nowMs;
    this.stats.calls++;
    this.stats.running++;
    if (c.deadlineMs <= nowMs) this.settle(c, "deadline", nowMs);
    else if (this.pending.size > 0 || !this.launch(c, "primary", nowMs)) this.wait(c, nowMs);
    this.admit(nowMs);
  }

  /** The answer has begun (headers, or the first body byte): this attempt is the winner, the others are cancelled. */
  committed(a: Attempt, nowMs: number): void {
    if (!a.running || a.call.state !== "running") return;
    this.commit(a, nowMs);
    if (a.running) this.wake(a.call);
    this.admit(nowMs);
  }

  /** The whole reply is here. Commits first if `committed` was not called. */
  replied(a: Attempt, nowMs: number): void {
    if (!heeded(a)) return;
    if (a.call.state === "running") this.commit(a, nowMs);
    if (a.running) {
      this.ledger.end(a, "win", nowMs);
      this.settle(a.call, undefined, nowMs);
    }
    this.admit(nowMs);
  }

  /**
   * This copy failed, and another replica may do better: send the next one at once.
   *
   * @param pushbackMs - what the server asked for: no copy before that long from now; negative: none at all.
   */
  failed(a: Attempt, nowMs: number, cause: unknown, pushbackMs: number = 0): void {
    if (!heeded(a)) return;
    a.cause = cause;
    const c = a.call;
    if (c.state === "committed") {
      this.ledger.end(a, "failed", nowMs);
      this.settle(c, "body", nowMs);
    } else {
      this.ledger.end(a, "failed", nowMs);
      if (pushbackMs !== 0)
        c.notBeforeMs =
          pushbackMs > 0 ? Math.max(c.notBeforeMs, nowMs + pushbackMs) : Number.POSITIVE_INFINITY;
      this.goOn(c, a, nowMs);
    }
    this.admit(nowMs);
  }

  /** This copy failed as it would anywhere: the call ends, running copies are cancelled. */
  fatal(a: Attempt, nowMs: number, cause: unknown): void {
    if (!heeded(a)) return;
    a.cause = cause;
    const c = a.call;
    c.state = "ending";
    this.ledger.end(a, "fatal", nowMs);
    this.cancelRunning(c, undefined, "superseded", nowMs);
    this.settle(c, "fatal", nowMs);
    this.admit(nowMs);
  }

  /** This copy could not be placed (the endpoint's pool is full): no one's fault, and the permit comes back. */
  ignored(a: Attempt, nowMs: number, cause: unknown): void {
    if (!heeded(a)) return;
    a.cause = cause;
    const c = a.call;
    this.ledger.end(a, "ignored", nowMs);
    if (a.kind === "hedge") c.hedges--;
    if (a.kind === "retry") c.retries--;
    if (a.kind !== "primary") this.policy.budget.refund();
    if (!this.launch(c, a.kind, nowMs) && c.running === 0 && c.state === "running")
      this.settle(c, "all-failed", nowMs);
    this.admit(nowMs);
  }

  /** The wake is due. Spurious and late wakes are harmless. */
  woke(c: Call, nowMs: number): void {
    if (c.state === "settled" || c.state === "ending" || c.state === "new") return;
    // The wake that fired is spent: whatever is still due is armed again, even for the same time.
    c.wakeMs = Number.POSITIVE_INFINITY;
    if (nowMs >= c.deadlineMs) this.expire(c, nowMs);
    else {
      if (c.state === "running") this.timeOut(c, nowMs);
      if (c.state === "running" && nowMs >= c.nextAtMs) this.launchDue(c, nowMs);
      if (isOpen(c)) this.wake(c);
    }
    this.admit(nowMs);
  }

  /** The caller gave up: every attempt is cancelled. */
  aborted(c: Call, nowMs: number): void {
    if (c.state === "settled" || c.state === "ending") return;
    if (c.state === "pending") this.pending.remove(c);
    c.state = "ending";
    this.cancelRunning(c, undefined, "cancelled", nowMs);
    this.settle(c, "aborted", nowMs);
    this.admit(nowMs);
  }

  /** Pending calls may find a place: call it after the endpoints have changed. */
  admit(nowMs: number): void {
    if (this.pending.size === 0 || this.admitting) return;
    this.admitting = true;
    for (let c = this.pending.first; c !== undefined; c = this.pending.first) {
      // Taken out before the launch, because a port that answers inside `send` settles the call there.
      this.pending.remove(c);
      c.state = "running";
      if (!this.launch(c, "primary", nowMs)) {
        c.state = "pending";
        this.pending.putBack(c);
        break;
      }
    }
    this.stats.pending = this.pending.size;
    this.admitting = false;
  }

  /** Launches one copy; false, with nothing taken, when it may not or cannot. */
  private launch(c: Call, kind: AttemptKind, nowMs: number): boolean {
    if (c.launched >= MAX_LAUNCHES) return false;
    const endpoint =
      this.ledger.outstanding < this.policy.maxOutstanding
        ? this.policy.balancer.pick(c, kind, nowMs)
        : undefined;
    if (endpoint === undefined)
      return kind === "primary" ? false : this.skip(c, "no_alternative", nowMs);
    if (kind !== "primary" && !this.policy.budget.tryWithdraw(kind, nowMs))
      return this.skip(c, "budget", nowMs);

    const a = new Attempt(c, endpoint, kind, nowMs);
    this.ledger.begin(a, nowMs);
    c.nextKind = "hedge";
    c.nextAtMs = hedgeDueMs(c, this.policy, nowMs);
    this.wake(c);
    this.port.send(a, nowMs);
    return true;
  }

  private launchDue(c: Call, nowMs: number): void {
    const kind = c.nextKind;
    c.nextAtMs = Number.POSITIVE_INFINITY;
    if (c.deadlineMs - nowMs < c.cls.medianMs) this.skip(c, "deadline", nowMs);
    else if (this.launch(c, kind, nowMs)) return;
    if (c.running === 0 && c.state === "running") this.settle(c, "all-failed", nowMs);
  }

  /** After a failure: the next copy at once, or when the server allows it, or none. */
  private goOn(c: Call, a: Attempt, nowMs: number): void {
    const { kind, skip } = afterFailure(c, a, this.policy, nowMs);
    if (skip !== undefined) this.skip(c, skip, nowMs);
    if (kind !== undefined) {
      if (c.notBeforeMs <= nowMs) {
        if (this.launch(c, kind, nowMs)) return;
      } else if (
        c.notBeforeMs + c.cls.medianMs < c.deadlineMs &&
        c.notBeforeMs < Number.POSITIVE_INFINITY
      ) {
        c.nextKind = kind;
        c.nextAtMs = c.notBeforeMs;
        this.wake(c);
        return;
      } else this.skip(c, "pushback", nowMs);
    }
    if (c.notBeforeMs > c.nextAtMs) c.nextAtMs = c.notBeforeMs;
    if (c.running === 0 && c.state === "running") this.settle(c, "all-failed", nowMs);
    else if (c.state === "running") this.wake(c);
  }

  private commit(a: Attempt, nowMs: number): void {
    const c = a.call;
    c.winner = a;
    c.state = "committed";
    c.nextAtMs = Number.POSITIVE_INFINITY;
    this.ledger.win(a, nowMs);
    if (c.running > 1) this.cancelRunning(c, a, "superseded", nowMs);
  }

  private cancelRunning(
    c: Call,
    keep: Attempt | undefined,
    outcome: AttemptOutcome,
    nowMs: number,
  ): void {
    for (let a = c.last; a !== undefined && c.running > 0; a = a.previous) {
      if (!a.running || a === keep) continue;
      this.ledger.end(a, outcome, nowMs);
      this.port.cancel(a, nowMs);
    }
  }

  private timeOut(c: Call, nowMs: number): void {
    const timeoutMs = this.policy.attemptTimeoutMs;
    if (timeoutMs === Number.POSITIVE_INFINITY) return;
    for (let a = c.last; a !== undefined && c.state === "running"; a = a.previous) {
      if (!a.running || nowMs < a.startMs + timeoutMs) continue;
      const endpoint = a.endpoint.name;
      a.cause = new BobtailError(
        "ERR_BOBTAIL_ATTEMPT_TIMEOUT",
        `${endpoint}: no answer within ${timeoutMs} ms`,
        { endpoint, timeoutMs },
      );
      a.timedOut = true;
      this.ledger.end(a, "failed", nowMs);
      this.port.cancel(a, nowMs);
      if (c.state === "running") this.goOn(c, a, nowMs);
    }
  }

  /** Endpoints that had half of the call's time are to blame; copies sent later are not. */
  private expire(c: Call, nowMs: number): void {
    if (c.state === "pending") this.pending.remove(c);
    const half = c.startMs + (c.deadlineMs - c.startMs) / 2;
    const waited = c.state === "running";
    c.state = "ending";
    for (let a = c.last; a !== undefined; a = a.previous) {
      if (!a.running) continue;
      a.timedOut = waited && a.startMs <= half;
      this.ledger.end(a, a.timedOut ? "failed" : "cancelled", nowMs);
      this.port.cancel(a, nowMs);
    }
    this.settle(c, "deadline", nowMs);
  }

  private wait(c: Call, nowMs: number): void {
    if (c.state !== "running") return;
    if (this.policy.balancer.endpoints.length === 0) this.settle(c, "no-endpoint", nowMs);
    else if (!this.pending.put(c)) this.settle(c, "shed", nowMs);
    else {
      c.state = "pending";
      this.stats.pending = this.pending.size;
      this.wake(c);
    }
  }

  private wake(c: Call): void {
    let atMs = c.nextAtMs < c.deadlineMs ? c.nextAtMs : c.deadlineMs;
    const timeoutMs = this.policy.attemptTimeoutMs;
    if (timeoutMs !== Number.POSITIVE_INFINITY && c.state === "running") {
      for (let a = c.last; a !== undefined; a = a.previous) {
        if (a.running && a.startMs + timeoutMs < atMs) atMs = a.startMs + timeoutMs;
      }
    }
    if (atMs === c.wakeMs) return;
    c.wakeMs = atMs;
    this.port.wakeAt(c, atMs);
  }

  private skip(c: Call, reason: SkipReason, nowMs: number): false {
    c.skip = reason;
    this.stats.skipped[reason]++;
    this.observer?.skipped?.(c, reason, nowMs);
    return false;
  }

  private settle(c: Call, failure: CallFailure | undefined, nowMs: number): void {
    assert(
      c.state !== "settled" && c.running === 0,
      "a call settles once, when nothing of it runs",
    );
    c.state = "settled";
    c.failure = failure;
    c.nextAtMs = Number.POSITIVE_INFINITY;
    c.wakeMs = Number.POSITIVE_INFINITY;
    this.stats.running--;
    this.stats.pending = this.pending.size;
    if (failure === undefined) this.stats.succeeded++;
    else if (failure === "aborted") this.stats.aborted++;
    else {
      this.stats.failed++;
      if (failure === "deadline") this.stats.deadlineExceeded++;
      else if (failure === "shed") this.stats.shed++;
    }
    this.observer?.settled?.(c, nowMs);
    this.port.settle(c, nowMs);
  }
}

/** An attempt that has ended, or whose call is being ended or was won by another, has nothing to say any more. */
function heeded(a: Attempt): boolean {
  return (
    a.running && a.call.state !== "ending" && (a.call.winner === undefined || a.call.winner === a)
  );
}

/** Read through a call, since the compiler cannot see that the port changes the state. */
function isOpen(c: Call): boolean {
  return c.state === "running" || c.state === "committed";
}
