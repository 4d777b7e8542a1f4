import type { Dispatcher } from "undici";
import type { DispatchCopy, Sink } from "./undici-copy.ts";

type Controller = Dispatcher.DispatchController;

/** The caller's side of an intercepted request: its handler, and the controller that handler is given. */
export class CallSink implements Sink, Controller {
  readonly handler: Dispatcher.DispatchHandler;
  paused: boolean;
  aborted: boolean;
  reason: Error | null;
  private readonly aborter: AbortController;
  private copy: DispatchCopy | undefined;
  private failed: boolean;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.handler = handler;
    this.paused = false;
    this.aborted = false;
    this.reason = null;
    this.aborter = new AbortController();
    this.copy = undefined;
    this.failed = false;
  }

  get controller(): Controller {
    return this;
  }

  get signal(): AbortSignal {
    return this.aborter.signal;
  }

  get rawHeaders(): NonNullable<Controller["rawHeaders"]> | null {
    return this.copy?.wire?.rawHeaders ?? null;
  }

  get rawTrailers(): NonNullable<Controller["rawTrailers"]> | null {
    return this.copy?.wire?.rawTrailers ?? null;
  }

  begin(): void {
    this.handler.onRequestStart?.(this, {});
  }

  attach(copy: DispatchCopy): void {
    this.copy = copy;
  }

  pause(): void {
    this.paused = true;
    this.copy?.wire?.pause();
  }

  resume(): void {
    this.paused = false;
    this.copy?.wire?.resume();
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.aborter.abort(reason);
    // A call that has ended because all failed has given its last answer, and hears no signal any more.
    this.copy?.stop(reason);
  }

  /** At most once: undici's handlers take a second error badly. */
  fail(error: unknown): void {
    if (this.failed) return;
    this.failed = true;
    const reason = error instanceof Error ? error : new Error("Aborted", { cause: error });
    this.handler.onResponseError?.(this, reason);
  }
}
