import type { Endpoint } from "../../policies/endpoint.ts";
import type { AttemptReports, CallOptions, LiveAttempt, Sender } from "./sender.ts";

/** Performs one copy at one endpoint; a throw and a rejection are the same. */
export type AttemptFunction<R, O> = (replica: R, attempt: LiveAttempt) => Promise<O> | O;

/** What is known of a call of a function before it starts. */
export interface FunctionCallOptions<O> extends CallOptions {
  /**
   * Gives back an answer that nobody will use, because another copy won or the caller had gone: called
   * once for each. What it throws is ignored. Default: such answers are dropped.
   */
  readonly release?: ((answer: O) => void) | undefined;
}

export type Classify = (error: unknown) => "failed" | "fatal" | "ignore";

/** Runs a user's function as the copies of a call. */
export class FunctionSender<R, O> implements Sender<O> {
  private readonly giveBack: ((answer: O) => void) | undefined;
  private readonly fn: AttemptFunction<R, O>;
  private readonly targets: ReadonlyMap<Endpoint, R>;
  private readonly classify: Classify | undefined;

  constructor(
    fn: AttemptFunction<R, O>,
    targets: ReadonlyMap<Endpoint, R>,
    classify: Classify | undefined,
    release: ((answer: O) => void) | undefined,
  ) {
    this.fn = fn;
    this.targets = targets;
    this.classify = classify;
    this.giveBack = release;
  }

  release(answer: O): void {
    this.giveBack?.(answer);
  }

  send(attempt: LiveAttempt, reports: AttemptReports<O>): void {
    let result: Promise<O> | O;
    try {
      result = this.fn(this.targets.get(attempt.endpoint) as R, attempt);
    } catch (error) {
      this.fail(error, reports);
      return;
    }
    if (isThenable(result)) {
      // Both outcomes have a handler from the start, so a loser that rejects later is never unhandled.
      result.then(
        (answer) => {
          reports.replied(answer);
        },
        (error) => this.fail(error, reports),
      );
    } else reports.replied(result);
  }

  private fail(error: unknown, reports: AttemptReports<O>): void {
    if (this.classify === undefined) {
      reports.failed(error);
      return;
    }
    let kind: "failed" | "fatal" | "ignore";
    try {
      kind = this.classify(error);
    } catch (mistake) {
      // The classifier's own mistake would be the same at every endpoint.
      reports.fatal(mistake);
      return;
    }
    if (kind === "fatal") reports.fatal(error);
    else if (kind === "ignore") reports.ignored(error);
    else reports.failed(error);
  }
}

function isThenable<O>(result: Promise<O> | O): result is Promise<O> {
  return (
    result instanceof Promise ||
    (typeof result === "object" &&
      result !== null &&
      typeof (result as { then?: unknown }).then === "function")
  );
}
