import { AsyncResource } from "node:async_hooks";
import { setMaxListeners } from "node:events";
import { type Clock, Wakeable } from "../../core/clock.ts";
import type { Attempt } from "../../policies/attempt.ts";
import { Call } from "../../policies/call.ts";
import type { LatencyClass } from "../../policies/hedger.ts";
import type { CallContext } from "./call-context.ts";
import {
  allFailedError,
  deadlineError,
  noEndpointError,
  shedError,
  supersededError,
} from "./call-failure.ts";
import type { ClientDriver } from "./driver.ts";
import type { Sender } from "./sender.ts";

/** Node warns of a leak when a signal has more listeners than this. */
const FEW_LISTENERS = 10;

/** Calls of the process that listen to a signal now; while they are few no signal can have many. */
let listening = 0;
let spared: AbortSignal | undefined;

const NO_DESTROY = { requireManualDestroy: true };

/**
 * What one call holds outside the machine: the caller's promise and signal, the wake, and answers that
 * nobody has been given yet. Everything is let go at settle.
 */
export class CallRun<T> extends Wakeable implements CallContext {
  readonly driver: ClientDriver;
  readonly sender: Sender<T>;
  readonly call: Call;
  /** The caller's async context: copies sent later, from the wheel or from another call's end, run in it. */
  readonly scope: AsyncResource;
  /** Until `run` returns or the first copy is sent: that one runs in the caller's own context. */
  starting: boolean;
  /** Calls made inside this one's copies must not hedge. */
  noHedge: boolean;
  resolve: (answer: T) => void;
  reject: (reason: unknown) => void;
  private signal: AbortSignal | undefined;
  /** An answer that won, and whether the caller has it. */
  private taken: T | undefined;
  private hasTaken: boolean;
  private delivered: boolean;
  /** The latest real answer of a copy that failed. */
  private held: T | undefined;
  private deadline: unknown;

  constructor(driver: ClientDriver, sender: Sender<T>, cls: LatencyClass) {
    super();
    this.driver = driver;
    this.sender = sender;
    this.call = new Call(cls, this);
    this.scope = new AsyncResource("BOBTAIL_CALL", NO_DESTROY);
    this.starting = false;
    this.noHedge = false;
    this.resolve = unset;
    this.reject = unset;
    this.signal = undefined;
    this.taken = undefined;
    this.hasTaken = false;
    this.delivered = false;
    this.held = undefined;
    this.deadline = undefined;
  }

  get clock(): Clock {
    return this.driver.clock;
  }

  get deadlineMs(): number {
    return this.call.deadlineMs;
  }

  override fire(nowMs: number): void {
    this.driver.machine.woke(this.call, nowMs);
  }

  listen(signal: AbortSignal): void {
    this.signal = signal;
    if (listening >= FEW_LISTENERS && signal !== spared) spare(signal);
    listening++;
    signal.addEventListener("abort", this);
  }

  /** The caller's signal: this object is its listener, which spares a closure a call. */
  handleEvent(): void {
    this.driver.machine.aborted(this.call, this.driver.clock.nowMs());
  }

  /** Why a copy is no longer wanted. */
  reasonFor(attempt: Attempt): unknown {
    if (attempt.timedOut && attempt.cause !== undefined) return attempt.cause;
    if (attempt.outcome === "superseded") return supersededError(attempt);
    const { failure } = this.call;
    if (this.signal?.aborted && failure !== "deadline") return this.signal.reason;
    return this.deadlineReason(this.driver.clock.nowMs());
  }

  take(answer: T): void {
    this.taken = answer;
    this.hasTaken = true;
  }

  deliver(): void {
    if (this.delivered) return;
    this.delivered = true;
    this.resolve(this.taken as T);
  }

  hasDelivered(answer: T): boolean {
    return this.delivered && Object.is(this.taken, answer);
  }

  /** Keeps the answer of a copy that failed, in place of the one before. */
  hold(answer: T): void {
    const before = this.held;
    this.held = answer;
    if (before !== undefined) this.release(before);
  }

  /** An answer that nobody waits for any more. */
  refuse(answer: T): false {
    // A performer that reports its winner twice must not lose the caller what it has been given.
    if (!this.hasTaken || !Object.is(this.taken, answer)) this.release(answer);
    return false;
  }

  settled(nowMs: number): void {
    if (this.timerSlot >= 0) this.driver.timers.wakeAt(this, Number.POSITIVE_INFINITY);
    const { failure } = this.call;
    const { held, signal } = this;
    this.held = undefined;
    if (signal !== undefined) {
      listening--;
      signal.removeEventListener("abort", this);
    }
    if (failure === undefined) this.deliver();
    else if (!this.delivered) {
      if (failure === "all-failed" && held !== undefined) {
        this.resolve(held);
        return;
      }
      this.reject(this.failureReason(nowMs));
      if (this.hasTaken) this.release(this.taken as T);
    }
    if (held !== undefined) this.release(held);
  }

  private failureReason(nowMs: number): unknown {
    const { call, driver } = this;
    switch (call.failure) {
      case "aborted":
        return this.signal?.reason;
      case "deadline":
        return this.deadlineReason(nowMs);
      case "fatal":
        return call.last === undefined ? undefined : fatalCause(call.last);
      case "no-endpoint":
        return noEndpointError(driver.name, driver.service);
      case "shed":
        return shedError(driver.name, driver.service);
      default:
        return allFailedError(driver.name, call);
    }
  }

  private deadlineReason(nowMs: number): unknown {
    this.deadline ??= deadlineError(this.driver.name, this.call, nowMs);
    return this.deadline;
  }

  private release(answer: T): void {
    const { sender } = this;
    if (sender.release === undefined) return;
    try {
      sender.release(answer);
    } catch {
      // Nobody waits for this answer, so nobody can be told that giving it back failed.
    }
  }
}

function fatalCause(last: Attempt): unknown {
  for (let a: Attempt | undefined = last; a !== undefined; a = a.previous) {
    if (a.outcome === "fatal") return a.cause;
  }
  return undefined;
}

/** Many calls at one time under one signal are no leak: each takes its listener away, as `fetch` does. */
function spare(signal: AbortSignal): void {
  spared = signal;
  // One from a polyfill has no such limit, and the host would refuse it.
  if (signal instanceof EventTarget) setMaxListeners(0, signal);
}

function unset(): void {}
