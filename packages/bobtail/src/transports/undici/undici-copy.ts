import type { Dispatcher } from "undici";
import { type Clock, type Timers, Wakeable } from "../../core/clock.ts";
import { BobtailError, isBobtailError } from "../../core/errors.ts";
import type { AttemptReports, LiveAttempt } from "../client/sender.ts";
import { DRAIN_BYTES, DRAIN_MS } from "./drain-limits.ts";
import { type Curable, commitsAtFirstByte, isOfRequest, judgeAnswer } from "./fetch-answer.ts";

type Controller = Dispatcher.DispatchController;
type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2];
type Upgrade = NonNullable<Dispatcher.DispatchHandler["onRequestUpgrade"]>;

/** What a copy needs to know of its request. */
export interface CopySetup {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly bodyIdleMs: number;
  readonly curable: Curable;
  readonly commit: "headers" | "first-byte" | undefined;
  /** Sends the request once more, as it was. */
  readonly dispatch: (handler: Dispatcher.DispatchHandler) => boolean;
  /** Safe to send twice, and the body allows it. */
  readonly repeatable: boolean;
  /** Whom the winner's events are for. */
  readonly sink: Sink;
}

/** The caller's handler, behind one controller for the whole call. */
export interface Sink {
  /** Its copy feeds the handler from now on. */
  attach(copy: DispatchCopy): void;
  readonly controller: Controller;
  readonly handler: Dispatcher.DispatchHandler;
  fail(error: unknown): void;
}

/**
 * One copy of a dispatched request. It holds its answer back until it has won, which costs no
 * memory: the wire is paused.
 */
export class DispatchCopy extends Wakeable implements Dispatcher.DispatchHandler {
  wire: Controller | undefined;
  private readonly live: LiveAttempt;
  private readonly reports: AttemptReports<DispatchCopy>;
  private readonly setup: CopySetup;
  private state: "waiting" | "byte" | "held" | "live" | "drained" | "over";
  private begun: boolean;
  private resent: boolean;
  private bytes: number;
  private cancelled: boolean;
  private start: { status: number; headers: Headers; text: string | undefined } | undefined;
  /** What came although the wire was asked to pause. */
  private chunks: Buffer[];
  private trailers: Headers | undefined;
  /** What broke the connection of an answer that was held. */
  private broken: Error | undefined;

  constructor(live: LiveAttempt, reports: AttemptReports<DispatchCopy>, setup: CopySetup) {
    super();
    this.wire = undefined;
    this.live = live;
    this.reports = reports;
    this.setup = setup;
    this.state = "waiting";
    this.begun = false;
    this.resent = false;
    this.bytes = 0;
    this.cancelled = false;
    this.start = undefined;
    this.chunks = [];
    this.trailers = undefined;
    this.broken = undefined;
  }

  send(): void {
    this.live.onCancel((reason) => this.cancel(reason));
    this.setup.dispatch(this);
  }

  onRequestStart(controller: Controller): void {
    this.wire = controller;
    if (this.cancelled) controller.abort(asError(this.live.signal.reason));
  }

  onResponseStarted(): void {
    this.begun = true;
  }

  onRequestUpgrade(...[, status, headers, socket]: Parameters<Upgrade>): void {
    this.state = "live";
    if (!this.reports.replied(this)) {
      socket.destroy();
      return;
    }
    const { sink } = this.setup;
    sink.handler.onRequestUpgrade?.(sink.controller, status, headers, socket);
  }

  onResponseStart(wire: Controller, status: number, headers: Headers, text?: string): void {
    if (status < 200) return;
    this.begun = true;
    this.start = { status, headers, text };
    const { curable, commit } = this.setup;
    const { isWin, pushbackMs } = judgeAnswer(status, one(headers["retry-after"]), curable);
    if (!isWin) {
      this.state = "held";
      wire.pause();
      const cause = new Error(`${this.live.endpoint.name}: answered ${status}`);
      this.reports.failed(cause, { answer: this, pushbackMs });
    } else if (commitsAtFirstByte(commit, one(headers["content-type"]))) this.state = "byte";
    else this.win();
  }

  onResponseData(wire: Controller, chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.state === "byte") this.win();
    if (this.state === "live") this.setup.sink.handler.onResponseData?.(this.facade, chunk);
    else if (this.state === "held") this.chunks.push(chunk);
    else if (this.state === "drained" && this.bytes > DRAIN_BYTES) wire.abort(notWanted());
  }

  onResponseEnd(_: Controller, trailers: Headers): void {
    if (this.state === "byte") this.win();
    this.trailers = trailers;
    if (this.state === "live") this.finish(trailers);
    else if (this.state === "drained") this.end();
  }

  onResponseError(_: Controller, error: Error): void {
    const { state } = this;
    if (state === "waiting" && this.sendAgain(error)) return;
    if (state === "held") {
      this.broken = error;
      return;
    }
    this.end();
    if (state === "live") {
      this.reports.broke(error);
      this.setup.sink.fail(error);
    } else if (state === "waiting" || state === "byte") {
      const sent = this.wire !== undefined;
      if (!isOfRequest(error) && this.setup.curable.has(sent ? "reset" : "connect-failure"))
        this.reports.failed(error, { unsent: !sent });
      else this.reports.fatal(error);
    }
  }

  /** Every copy failed, and this is the last real answer: the caller gets it after all. */
  play(): void {
    const { start, setup } = this;
    if (this.state !== "held" || start === undefined) return;
    this.state = "live";
    setup.sink.attach(this);
    // The call is over, so its deadline is kept here.
    setup.timers.wakeAt(this, setup.clock.nowMs() + this.live.remainingMs);
    try {
      this.replay(start);
    } catch (error) {
      // Undici is not on the stack to see what a handler throws.
      this.end();
      this.wire?.abort(asError(error));
      setup.sink.fail(error);
    }
  }

  /** The caller has had enough of an answer that it has. */
  stop(reason: Error): void {
    if (this.state === "live") this.wire?.abort(reason);
  }

  /** Nobody will use this answer. */
  release(): void {
    if (this.trailers === undefined && this.broken === undefined) this.drain(notWanted());
    this.chunks = [];
  }

  /** Drained for long enough, or the deadline of an answer that was given because all failed. */
  fire(): void {
    if (this.state === "drained") this.wire?.abort(notWanted());
    else if (this.state === "live") this.wire?.abort(this.lateBody());
  }

  private get facade(): Controller {
    return this.setup.sink.controller;
  }

  private win(): void {
    const { sink } = this.setup;
    const { status, headers, text } = this.start as NonNullable<DispatchCopy["start"]>;
    this.state = "live";
    if (!this.reports.committed(this)) return;
    sink.attach(this);
    sink.handler.onResponseStart?.(sink.controller, status, headers, text);
  }

  private replay({ status, headers, text }: NonNullable<DispatchCopy["start"]>): void {
    const { handler } = this.setup.sink;
    handler.onResponseStart?.(this.facade, status, headers, text);
    for (const chunk of this.chunks.splice(0)) handler.onResponseData?.(this.facade, chunk);
    if (this.state !== "live") return;
    if (this.broken !== undefined) {
      this.end();
      this.setup.sink.fail(this.broken);
    } else if (this.trailers !== undefined) this.finish(this.trailers);
    else if (!this.facade.paused) this.wire?.resume();
  }

  private lateBody(): Error {
    const endpoint = this.live.endpoint.name;
    const details = { endpoint, idleMs: this.setup.bodyIdleMs };
    const message = `${endpoint}: the body was not complete by the call's deadline`;
    return new BobtailError("ERR_BOBTAIL_BODY_STALLED", message, details);
  }

  private finish(trailers: Headers): void {
    this.end();
    this.reports.finished();
    this.setup.sink.handler.onResponseEnd?.(this.facade, trailers);
  }

  private cancel(reason: unknown): void {
    this.cancelled = true;
    const isLoser = isBobtailError(reason, "ERR_BOBTAIL_SUPERSEDED");
    if (isLoser && this.state !== "waiting") this.drain(reason);
    else {
      const wasLive = this.state === "live";
      this.state = "over";
      this.wire?.abort(asError(reason));
      if (wasLive) this.setup.sink.fail(asError(reason));
    }
  }

  /** What is short is read to its end, so that its connection can be used again. */
  private drain(reason: Error): void {
    if (this.state === "over" || this.state === "drained") return;
    this.state = "drained";
    if (this.bytes > DRAIN_BYTES) {
      this.wire?.abort(reason);
      return;
    }
    const { clock, timers } = this.setup;
    timers.wakeAt(this, clock.nowMs() + DRAIN_MS);
    // Not at once: undici may be in the middle of another connection's data.
    queueMicrotask(() => this.wire?.resume());
  }

  private end(): void {
    this.state = "over";
    this.setup.timers.wakeAt(this, Number.POSITIVE_INFINITY);
  }

  /**
   * A kept-alive connection that the server closed before any answer says nothing of the endpoint: once more.
   * Of one that was reset undici does not tell whether it was new, so that counts as a failure.
   */
  private sendAgain(error: Error): boolean {
    const socket = "socket" in error ? (error.socket as { bytesRead?: number } | null) : null;
    const isStale = (socket?.bytesRead ?? 0) > 0 && !this.begun && !this.cancelled;
    if (!isStale || this.resent || !this.setup.repeatable) return false;
    this.resent = true;
    this.wire = undefined;
    this.setup.dispatch(this);
    return true;
  }
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("Aborted", { cause: reason });
}

function notWanted(): Error {
  return new Error("The answer is not wanted");
}
