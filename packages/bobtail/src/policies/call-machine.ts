import { assert } from "../core/assert.ts";
import {
  type Attempt,
  type AttemptKind,
  type AttemptOutcome,
  isHeeded,
  openAttempt,
} from "./attempt.ts";
import { attemptTimeoutError, soonestTimeoutMs } from "./attempt-timeout.ts";
import { type Call, type CallFailure, isOpen } from "./call.ts";
import type { Endpoint } from "./endpoint.ts";
import { afterFailure, hedgeDueMs } from "./extra.ts";
import { Ledger } from "./ledger.ts";
import type { CallObserver } from "./observer.ts";
import { PendingQueue } from "./pending-queue.ts";
import type { CallPolicy, Port } from "./port.ts";
import { emptyStats, type ServiceStats } from "./stats.ts";

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
  private readonly pending: PendingQueue;
  private readonly ledger: Ledger;
  private readonly timesOut: boolean;
  private admitting: boolean;

  constructor(policy: CallPolicy, port: Port, observer?: CallObserver) {
    this.policy = policy;
    this.stats = emptyStats();
    this.port = port;
    this.pending = new PendingQueue(policy.maxPending, this.stats);
    this.ledger = new Ledger(policy, this.stats, observer);
    this.timesOut = policy.attemptTimeoutMs < Number.POSITIVE_INFINITY;
    this.admitting = false;
  }

  start(c: Call, nowMs: number): void {
    assert(c.state === "new", "a call starts once");
    c.state = "running";
    c.startMs = nowMs;
    this.ledger.enter();
    if (nowMs >= c.deadlineMs) this.settle(c, "deadline", nowMs);
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
    if (!isHeeded(a)) return;
    this.commit(a, nowMs);
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
    if (!isHeeded(a)) return;
    a.cause = cause;
    const c = a.call;
    if (c.state === "committed") this.finish(a, "body", nowMs);
    else {
      this.ledger.end(a, "failed", nowMs);
      if (a.unsent) this.ledger.refund(a);
      // Negative or unreadable: the server wants no more copies.
      if (pushbackMs > 0) c.notBeforeMs = Math.max(c.notBeforeMs, nowMs + pushbackMs);
      else if (pushbackMs !== 0) c.notBeforeMs = Number.POSITIVE_INFINITY;
      this.goOn(c, this.remedy(a, nowMs), nowMs);
    }
    this.admit(nowMs);
  }

  /** This copy failed as it would anywhere: the call ends, running copies are cancelled. */
  fatal(a: Attempt, nowMs: number, cause: unknown): void {
    if (!isHeeded(a)) return;
    a.cause = cause;
    this.finish(a, a.call.state === "committed" ? "body" : "fatal", nowMs);
    this.admit(nowMs);
  }

  /** This copy could not be placed (the endpoint's pool is full): no one's fault, and the permit comes back. */
  ignored(a: Attempt, nowMs: number, cause: unknown): void {
    if (!isHeeded(a)) return;
    a.cause = cause;
    if (a.call.state === "committed") this.finish(a, "body", nowMs);
    else {
      this.ledger.end(a, "ignored", nowMs);
      this.ledger.refund(a);
      this.goOn(a.call, a.kind, nowMs);
    }
    this.admit(nowMs);
  }

  /** The wake is due. Spurious and late wakes are harmless. */
  woke(c: Call, nowMs: number): void {
    if (!isOpen(c)) return;
    if (nowMs >= c.deadlineMs) this.expire(c, nowMs);
    else {
      if (c.state === "running") this.timeOut(c, nowMs);
      if (c.state === "running" && nowMs >= c.nextAtMs) this.launchDue(c, nowMs);
      if (isOpen(c)) this.wake(c);
    }
    this.admit(nowMs);
  }

  /** The caller gave up: every attempt is cancelled. A call that is over, or was never started, has nothing to end. */
  aborted(c: Call, nowMs: number): void {
    if (!isOpen(c)) return;
    if (c.state === "pending") this.pending.remove(c);
    c.state = "ending";
    this.cancelRunning(c, "cancelled", nowMs);
    this.settle(c, "aborted", nowMs);
    this.admit(nowMs);
  }

  /** Pending calls may find a place: call it after the endpoints have changed. */
  admit(nowMs: number): void {
    if (this.pending.size > 0 && !this.admitting) this.admitPending(nowMs);
  }

  private admitPending(nowMs: number): void {
    this.admitting = true;
    for (let c = this.pending.first; c !== undefined; c = this.pending.first) {
      if (nowMs >= c.deadlineMs) {
        this.expire(c, nowMs);
        continue;
      }
      // Taken out before the launch, because a port that answers inside `send` settles the call there.
      this.pending.remove(c);
      c.state = "running";
      if (!this.launch(c, "primary", nowMs)) {
        c.state = "pending";
        this.pending.putBack(c);
        break;
      }
    }
    this.admitting = false;
  }

  /** Launches one copy; false, with nothing taken, when it may not or cannot. */
  private launch(c: Call, kind: AttemptKind, nowMs: number): boolean {
    if (c.launched >= MAX_LAUNCHES || nowMs >= c.deadlineMs) return false;
    if (kind !== "primary") return this.launchExtra(c, kind, nowMs);
    const endpoint = this.pick(c, kind, nowMs);
    if (endpoint === undefined) return false;
    this.send(c, endpoint, kind, nowMs);
    return true;
  }

  private launchExtra(c: Call, kind: AttemptKind, nowMs: number): boolean {
    if (kind === "hedge" && c.deadlineMs - nowMs < c.cls.medianMs)
      return this.ledger.skip(c, "deadline", nowMs);
    const endpoint = this.pick(c, kind, nowMs);
    if (endpoint === undefined) return this.ledger.skip(c, "no_alternative", nowMs);
    if (!this.policy.budget.tryWithdraw(kind, nowMs)) return this.ledger.skip(c, "budget", nowMs);
    this.send(c, endpoint, kind, nowMs);
    return true;
  }

  private pick(c: Call, kind: AttemptKind, nowMs: number): Endpoint | undefined {
    if (this.ledger.outstanding >= this.policy.maxOutstanding) return undefined;
    return this.policy.balancer.pick(c, kind, nowMs);
  }

  private send(c: Call, endpoint: Endpoint, kind: AttemptKind, nowMs: number): void {
    const a = openAttempt(c, endpoint, kind, nowMs);
    this.ledger.begin(a, nowMs);
    c.nextKind = "hedge";
    c.nextAtMs = hedgeDueMs(c, this.policy, nowMs);
    this.wake(c);
    this.port.send(a, nowMs);
  }

  private launchDue(c: Call, nowMs: number): void {
    if (c.nextKind === "hedge") this.policy.hedger.woken(nowMs - c.nextAtMs);
    c.nextAtMs = Number.POSITIVE_INFINITY;
    if (this.launch(c, c.nextKind, nowMs)) return;
    if (c.running === 0) this.settle(c, "all-failed", nowMs);
  }

  private remedy(a: Attempt, nowMs: number): AttemptKind | undefined {
    const { kind, skip } = afterFailure(a.call, a, this.policy, nowMs);
    if (skip !== undefined) this.ledger.skip(a.call, skip, nowMs);
    return kind;
  }

  /** After a copy came to nothing: the next one at once, or when the server allows it, or none. */
  private goOn(c: Call, kind: AttemptKind | undefined, nowMs: number): void {
    if (kind !== undefined && c.notBeforeMs <= nowMs) {
      if (this.launch(c, kind, nowMs)) return;
    } else if (kind !== undefined && c.notBeforeMs + c.cls.medianMs < c.deadlineMs) {
      c.nextKind = kind;
      c.nextAtMs = c.notBeforeMs;
      this.wake(c);
      return;
    } else if (kind !== undefined) this.ledger.skip(c, "pushback", nowMs);
    if (c.running === 0) this.settle(c, "all-failed", nowMs);
    else {
      if (c.nextAtMs < c.notBeforeMs) c.nextAtMs = c.notBeforeMs;
      this.wake(c);
    }
  }

  /** Safe to repeat: a port that reports the winner's end inside `cancel` comes here while losers still run. */
  private commit(a: Attempt, nowMs: number): void {
    const c = a.call;
    if (c.winner === undefined) {
      c.winner = a;
      c.state = "committed";
      c.nextAtMs = Number.POSITIVE_INFINITY;
      this.ledger.win(a, nowMs);
    }
    if (c.running > 1) this.cancelRunning(c, "superseded", nowMs);
  }

  /** This attempt's end is the call's. */
  private finish(a: Attempt, failure: "body" | "fatal", nowMs: number): void {
    const c = a.call;
    c.state = "ending";
    this.ledger.end(a, failure === "body" ? "failed" : "fatal", nowMs);
    this.cancelRunning(c, "superseded", nowMs);
    this.settle(c, failure, nowMs);
  }

  /** All of them, but for the winner while its body is on the way. */
  private cancelRunning(c: Call, outcome: AttemptOutcome, nowMs: number): void {
    for (let a = c.last; a !== undefined && c.running > 0; a = a.previous) {
      if (!a.running || (a === c.winner && c.state === "committed")) continue;
      this.ledger.end(a, outcome, nowMs);
      this.port.cancel(a, nowMs);
    }
  }

  private timeOut(c: Call, nowMs: number): void {
    if (!this.timesOut) return;
    const timeoutMs = this.policy.attemptTimeoutMs;
    for (let a = c.last; a !== undefined && c.state === "running"; a = a.previous) {
      if (!a.running || nowMs < a.startMs + timeoutMs) continue;
      a.cause = attemptTimeoutError(a, timeoutMs);
      a.timedOut = true;
      this.ledger.end(a, "failed", nowMs);
      this.port.cancel(a, nowMs);
      if (c.state === "running") this.goOn(c, this.remedy(a, nowMs), nowMs);
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
    if (this.policy.balancer.endpoints.length === 0) this.settle(c, "no-endpoint", nowMs);
    else if (!this.pending.put(c)) this.settle(c, "shed", nowMs);
    else {
      c.state = "pending";
      this.wake(c);
    }
  }

  private wake(c: Call): void {
    const atMs = Math.min(c.nextAtMs, c.deadlineMs);
    const timeoutMs = this.policy.attemptTimeoutMs;
    this.port.wakeAt(c, this.timesOut ? Math.min(atMs, soonestTimeoutMs(c, timeoutMs)) : atMs);
  }

  private settle(c: Call, failure: CallFailure | undefined, nowMs: number): void {
    assert(c.state !== "settled" && c.running === 0, "a call settles once, with nothing running");
    c.state = "settled";
    c.failure = failure;
    c.nextAtMs = Number.POSITIVE_INFINITY;
    this.ledger.leave(c, nowMs);
    this.port.settle(c, nowMs);
  }
}
