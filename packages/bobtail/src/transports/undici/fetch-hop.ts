import type { Duplex } from "node:stream";
import type { Dispatcher } from "undici";
import { type Clock, type Timers, Wakeable } from "../../core/clock.ts";
import { BobtailError } from "../../core/errors.ts";
import { DRAIN_BYTES, DRAIN_MS } from "./drain-limits.ts";
import type { Connection, EndpointPool } from "./undici-pool.ts";

/** What undici calls while a request is under way, in the form that its `fetch` and its clients share. */
export interface WireHandler {
  onConnect?(abort: (reason?: Error) => void, context?: unknown): void;
  onResponseStarted?(): void;
  onHeaders?(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean;
  onData?(chunk: Buffer): boolean;
  onComplete?(trailers: string[] | null): void;
  onError?(error: Error): void;
  onUpgrade?(status: number, headers: Buffer[] | string[] | null, socket: Duplex): void;
}

/** What a hop tells the attempt it belongs to. */
export interface HopOwner {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly endpointName: string;
  readonly bodyIdleMs: number;
  /** The same bytes may be sent once more: by nature of the request, or by an idempotency key. */
  readonly repeatable: boolean;
  /** Connections that other copies have used, where this one must take another. */
  readonly avoid: readonly Connection[];
  hopTook(connection: Connection): void;
  /** The answer, if it has begun, is to be read to its near end rather than cut off. */
  readonly unwanted: boolean;
  hopSent(): void;
  hopFirstByte(): void;
  /** `error` is absent when the answer is complete; `above`: the reader's side ended it, not the wire. */
  hopEnded(hop: FetchHop, error: unknown, above: boolean): void;
}

/** One HTTP exchange on one connection, between undici's `fetch` above and its client below. */
export class FetchHop extends Wakeable implements WireHandler {
  answered: boolean;
  ended: boolean;
  error: unknown;
  /** Ended by its reader, its writer or its signal, not by the wire. */
  above: boolean;
  bytes: number;
  private readonly owner: HopOwner;
  private readonly pool: EndpointPool;
  private readonly options: Dispatcher.DispatchOptions;
  private readonly handler: WireHandler;
  private connection: Connection;
  private begun: boolean;
  private sent: boolean;
  private resent: boolean;
  private stale: boolean;
  private epoch: number;
  private draining: boolean;
  private watching: boolean;
  private untilMs: number;
  private paused: boolean;
  private abortWire: ((reason?: Error) => void) | undefined;
  private resumeWire: (() => void) | undefined;

  constructor(
    owner: HopOwner,
    pool: EndpointPool,
    exchange: { options: Dispatcher.DispatchOptions; handler: WireHandler },
  ) {
    super();
    this.owner = owner;
    this.pool = pool;
    this.options = exchange.options;
    this.handler = exchange.handler;
    this.answered = false;
    this.ended = false;
    this.error = undefined;
    this.bytes = 0;
    this.begun = false;
    this.sent = false;
    this.resent = false;
    this.above = false;
    this.draining = false;
    this.watching = false;
    this.untilMs = Number.POSITIVE_INFINITY;
    this.paused = false;
    this.abortWire = undefined;
    this.resumeWire = undefined;
    this.connection = pool.take(owner.avoid, false);
    this.stale = this.connection.mayBeStale;
    this.epoch = this.connection.epoch;
  }

  start(): boolean {
    this.owner.hopTook(this.connection);
    return this.connection.client.dispatch(this.options, this as Dispatcher.DispatchHandler);
  }

  onConnect(abort: (reason?: Error) => void, context?: unknown): void {
    const first = this.abortWire === undefined;
    this.abortWire = abort;
    this.sent = true;
    this.stale = this.connection.served > 0 || this.connection.aged;
    this.epoch = this.connection.epoch;
    this.owner.hopSent();
    if (this.above) abort();
    else if (first) this.handler.onConnect?.((reason) => this.abortFromAbove(reason), context);
  }

  onResponseStarted(): void {
    this.begin();
    this.handler.onResponseStarted?.();
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean {
    this.begin();
    if (status >= 200) this.answered = true;
    this.resumeWire = resume;
    const on = this.handler.onHeaders?.(status, headers, this.resume, statusText) !== false;
    this.paused = !on;
    return on;
  }

  onData(chunk: Buffer): boolean {
    this.bytes += chunk.length;
    if (this.draining) {
      if (this.bytes > DRAIN_BYTES) this.abortWire?.();
      return true;
    }
    if (this.bytes === chunk.length) this.owner.hopFirstByte();
    const on = this.handler.onData?.(chunk) !== false;
    this.paused = !on;
    this.armIdle();
    return on;
  }

  onComplete(trailers: string[] | null): void {
    this.end(undefined);
    if (!this.draining) this.handler.onComplete?.(trailers);
    this.owner.hopEnded(this, undefined, false);
  }

  onError(error: Error): void {
    if (this.ended) return;
    if (this.sendAgain()) return;
    this.end(error);
    if (!this.draining) this.handler.onError?.(error);
    this.owner.hopEnded(this, error, this.above);
  }

  onUpgrade(status: number, headers: Buffer[] | string[] | null, socket: Duplex): void {
    this.end(undefined);
    this.handler.onUpgrade?.(status, headers, socket);
    this.owner.hopEnded(this, undefined, false);
  }

  /** From now on, a body is cut off when it stalls although its reader would take more, or lasts until then. */
  watchBody(untilMs: number): void {
    this.untilMs = untilMs;
    this.watching = true;
    this.armIdle();
  }

  /** `fetch` has gone on to another hop, and must not hear what becomes of this one. */
  leaveBehind(): void {
    if (!this.ended && !this.draining) this.drain();
  }

  /** The answer to this hop is of no use: read it to its near end, or cut it off. */
  discard(): void {
    if (!this.ended) this.abortFromAbove(undefined);
  }

  /** Drained for long enough, or the body has stalled. */
  fire(): void {
    if (this.ended) return;
    if (this.draining) this.abortWire?.();
    else {
      const { endpointName: endpoint, bodyIdleMs: idleMs } = this.owner;
      this.abortWire?.(
        new BobtailError(
          "ERR_BOBTAIL_BODY_STALLED",
          `${endpoint}: no piece of the body within ${idleMs} ms`,
          { endpoint, idleMs },
        ),
      );
    }
  }

  private begin(): void {
    if (this.begun) return;
    this.begun = true;
    this.connection.served++;
  }

  private readonly resume = (): void => {
    this.paused = false;
    this.armIdle();
    this.resumeWire?.();
  };

  private abortFromAbove(reason: Error | undefined): void {
    if (this.ended || this.draining) return;
    this.above = true;
    // A stream of HTTP/2 is reset for nothing, so only a connection of HTTP/1.1 is worth reading on.
    if (!this.answered || !this.owner.unwanted || this.connection.limit > 1 || !this.abortWire) {
      this.abortWire?.(reason);
      return;
    }
    this.drain();
    this.handler.onError?.(reason ?? new Error("The answer is not wanted"));
  }

  private drain(): void {
    this.draining = true;
    // One that is paused has filled a buffer of that size, and undici may be in the middle of another's data now.
    if (this.paused || this.bytes > DRAIN_BYTES) this.abortWire?.();
    else this.owner.timers.wakeAt(this, this.owner.clock.nowMs() + DRAIN_MS);
  }

  private armIdle(): void {
    if (!this.watching || this.draining || this.ended) return;
    const { clock, timers, bodyIdleMs } = this.owner;
    const idleAtMs = this.paused ? Number.POSITIVE_INFINITY : clock.nowMs() + bodyIdleMs;
    timers.wakeAt(this, Math.min(idleAtMs, this.untilMs));
  }

  /** A connection that had been idle broke before any answer: that says nothing of the endpoint. */
  private sendAgain(): boolean {
    const unchanged = this.sent || this.connection.epoch === this.epoch;
    if (this.resent || this.begun || this.above || !this.stale || !unchanged) return false;
    if (this.sent && !this.owner.repeatable) return false;
    this.resent = true;
    this.pool.give(this.connection, true);
    this.connection = this.pool.take(this.owner.avoid, true);
    this.sent = false;
    this.start();
    return true;
  }

  private end(error: unknown): void {
    this.ended = true;
    this.error = error;
    if (this.watching || this.draining) this.owner.timers.wakeAt(this, Number.POSITIVE_INFINITY);
    this.pool.give(this.connection, error !== undefined);
  }
}
