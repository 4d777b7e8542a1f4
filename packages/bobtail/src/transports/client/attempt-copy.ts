import type { Attempt, AttemptKind } from "../../policies/attempt.ts";
import type { Endpoint } from "../../policies/endpoint.ts";
import type { CallRun } from "./call-run.ts";
import type { AttemptReports, FailureDetails, LiveAttempt } from "./sender.ts";

/**
 * One copy of a call on its way: what its performer sees of it, and where that reports to. One object for
 * both, because it is made for every attempt.
 */
export class AttemptCopy<T> implements LiveAttempt, AttemptReports<T> {
  private readonly attempt: Attempt;
  private readonly run: CallRun<T>;
  private unwanted: boolean;
  private controller: AbortController | undefined;
  private listeners: ((reason: unknown) => void)[] | undefined;

  constructor(attempt: Attempt, run: CallRun<T>) {
    this.attempt = attempt;
    this.run = run;
    this.unwanted = false;
    this.controller = undefined;
    this.listeners = undefined;
  }

  get endpoint(): Endpoint {
    return this.attempt.endpoint;
  }

  get kind(): AttemptKind {
    return this.attempt.kind;
  }

  get number(): number {
    return this.attempt.number;
  }

  get remainingMs(): number {
    return Math.max(0, this.attempt.call.deadlineMs - this.run.driver.clock.nowMs());
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.unwanted) this.controller.abort(this.run.reasonFor(this.attempt));
    }
    return this.controller.signal;
  }

  onCancel(listener: (reason: unknown) => void): void {
    if (this.unwanted) tell(listener, this.run.reasonFor(this.attempt));
    else if (this.listeners === undefined) this.listeners = [listener];
    else this.listeners.push(listener);
  }

  /** The machine dropped this copy. The reason is made only if somebody asks for it. */
  cancel(): void {
    this.unwanted = true;
    const { controller, listeners } = this;
    if (controller === undefined && listeners === undefined) return;
    const reason = this.run.reasonFor(this.attempt);
    this.listeners = undefined;
    if (listeners !== undefined) for (const listener of listeners) tell(listener, reason);
    controller?.abort(reason);
  }

  committed(answer: T): boolean {
    const { attempt, run } = this;
    if (!isAwaited(attempt)) return run.refuse(answer);
    run.take(answer);
    run.driver.machine.committed(attempt, run.driver.clock.nowMs());
    if (attempt.call.state === "committed" && attempt.call.winner === attempt) run.deliver();
    return run.hasDelivered(answer);
  }

  finished(): void {
    const { attempt, run } = this;
    if (isOpenWinner(attempt)) run.driver.machine.replied(attempt, run.driver.clock.nowMs());
  }

  broke(cause: unknown): void {
    const { attempt, run } = this;
    if (isOpenWinner(attempt)) run.driver.machine.failed(attempt, run.driver.clock.nowMs(), cause);
  }

  replied(answer: T): boolean {
    const { attempt, run } = this;
    if (!isAwaited(attempt)) return run.refuse(answer);
    run.take(answer);
    run.driver.machine.replied(attempt, run.driver.clock.nowMs());
    return run.hasDelivered(answer);
  }

  failed(cause: unknown, how?: FailureDetails<T>): void {
    const { attempt, run } = this;
    const answer = how?.answer;
    if (!isAwaited(attempt)) {
      if (answer !== undefined) run.refuse(answer);
      return;
    }
    if (answer !== undefined) run.hold(answer);
    attempt.unsent = how?.unsent ?? false;
    run.driver.machine.failed(attempt, run.driver.clock.nowMs(), cause, how?.pushbackMs ?? 0);
  }

  fatal(cause: unknown): void {
    const { attempt, run } = this;
    if (isAwaited(attempt)) run.driver.machine.fatal(attempt, run.driver.clock.nowMs(), cause);
  }

  ignored(cause: unknown): void {
    const { attempt, run } = this;
    if (isAwaited(attempt)) run.driver.machine.ignored(attempt, run.driver.clock.nowMs(), cause);
  }
}

/** Still asked for its first word; anything else it says is late, repeated or unwanted. */
function isAwaited(a: Attempt): boolean {
  return a.running && a.call.state === "running";
}

function isOpenWinner(a: Attempt): boolean {
  return a.running && a.call.state === "committed" && a.call.winner === a;
}

/** A listener's own mistake surfaces as it would from an event target, and never in the middle of a cancel. */
function tell(listener: (reason: unknown) => void, reason: unknown): void {
  try {
    listener(reason);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
