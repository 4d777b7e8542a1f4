import type { Duplex } from "node:stream";
import { type Attempt, Wakeable } from "bobtail/engine";
import type { Client, Dispatcher } from "undici";
import { brokeReused } from "./endpoint-connector.ts";
import type { Leg, LegEvents, LegFailure } from "./engine.ts";
import type { UndiciOutbound } from "./undici-outbound.ts";

/** A dropped reply is read to its end, which keeps the connection, if that takes no more than this. */
const DRAIN_BYTES = 16_384;
const DRAIN_MS = 50;

/**
 * Depth of undici's own frames on the stack. Its parser is not re-entrant: while it reads one reply, sending
 * a request or reading on elsewhere may touch it, so both wait for the end of the turn.
 */
let parsing = 0;

/** One attempt as an undici handler. Once dropped it tells nobody anything. */
export class UndiciLeg extends Wakeable implements Leg, Dispatcher.DispatchHandler {
  readonly attempt: Attempt;
  status: number;
  message: string;
  headers: readonly Buffer[];
  answered: boolean;
  ended: boolean;
  bytes: number;
  private readonly events: LegEvents;
  private readonly outbound: UndiciOutbound;
  private abort: ((reason?: Error) => void) | undefined;
  private continueBody: (() => void) | undefined;
  private wasStarted: boolean;
  private isDropped: boolean;
  private isClosed: boolean;
  private fresh: Client | undefined;

  constructor(attempt: Attempt, events: LegEvents, outbound: UndiciOutbound) {
    super();
    this.attempt = attempt;
    this.events = events;
    this.outbound = outbound;
    this.status = 0;
    this.message = "";
    this.headers = NO_HEADERS;
    this.answered = false;
    this.ended = false;
    this.bytes = 0;
    this.abort = undefined;
    this.continueBody = undefined;
    this.wasStarted = false;
    this.isDropped = false;
    this.isClosed = false;
    this.fresh = undefined;
    outbound.legs++;
  }

  start(): void {
    if (this.outbound.legs > this.outbound.setup.maxLegs) {
      this.close();
      this.events.legFailed(this, { kind: "refused", code: "TOO_MANY_CONNECTIONS" });
      return;
    }
    if (parsing > 0) queueMicrotask(() => this.send());
    else this.send();
  }

  resume(): void {
    const { continueBody } = this;
    if (continueBody === undefined || this.ended) return;
    if (parsing > 0) queueMicrotask(continueBody);
    else continueBody();
  }

  drop(): void {
    if (this.isDropped) return;
    this.isDropped = true;
    if (this.isClosed) return;
    // Not connected yet: `onConnect` will give it up before a byte is sent.
    if (this.abort === undefined) return;
    if (!this.answered || this.lengthLeft() > DRAIN_BYTES) this.abort(DROPPED);
    else {
      const { clock, timers } = this.outbound.setup;
      timers.wakeAt(this, clock.nowMs() + DRAIN_MS);
      this.resume();
    }
  }

  /** The time for reading a dropped reply is over. */
  override fire(): void {
    if (!this.isClosed) this.abort?.(DROPPED);
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.abort = abort;
    this.wasStarted = false;
    if (this.isDropped) abort(DROPPED);
  }

  onResponseStarted(): void {
    this.wasStarted = true;
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void, message: string): boolean {
    if (status < 200) {
      if (!this.isDropped) this.inParser(() => this.events.legInformed(this, status, headers));
      return true;
    }
    this.answered = true;
    this.status = status;
    this.message = message;
    this.headers = headers;
    this.continueBody = resume;
    if (this.isDropped) return true;
    parsing++;
    try {
      return this.events.legHead(this) || this.isDropped;
    } finally {
      parsing--;
    }
  }

  onData(chunk: Buffer): boolean {
    this.bytes += chunk.length;
    if (this.isDropped) {
      if (this.bytes > DRAIN_BYTES) this.abort?.(DROPPED);
      return true;
    }
    parsing++;
    try {
      return this.events.legData(this, chunk) || this.isDropped;
    } finally {
      parsing--;
    }
  }

  onComplete(trailers: (Buffer | string)[] | null): void {
    this.ended = true;
    this.close();
    if (this.isDropped) return;
    // Undici's types say strings; what its parser gives is bytes.
    parsing++;
    try {
      this.events.legEnd(this, (trailers as Buffer[] | null) ?? NO_HEADERS);
    } finally {
      parsing--;
    }
  }

  onUpgrade(status: number, headers: Buffer[] | string[] | null, socket: Duplex): void {
    this.status = status;
    this.headers = (headers as Buffer[] | null) ?? NO_HEADERS;
    this.answered = true;
    this.ended = true;
    this.close();
    if (this.isDropped) socket.destroy();
    else this.events.legUpgraded(this, socket);
  }

  onError(error: Error): void {
    if (this.isClosed) return;
    if (!this.isDropped && this.isStale(error)) {
      this.fresh = this.outbound.freshClient();
      this.abort = undefined;
      const client = this.fresh;
      // The broken connection is still being taken down in this turn.
      setImmediate(() => {
        if (this.isDropped) this.close();
        else this.dispatch(client);
      });
      return;
    }
    if (this.isWhole(error)) {
      this.onComplete(null);
      return;
    }
    this.close();
    if (this.isDropped) return;
    const failure = { kind: this.kindOf(error), code: codeOf(error) };
    this.inParser(() => this.events.legFailed(this, failure));
  }

  private send(): void {
    if (this.isDropped) this.close();
    else this.dispatch(this.outbound.poolFor(this.attempt));
  }

  private dispatch(dispatcher: Dispatcher): void {
    const { method, path, headers, body, upgrade } = this.events.requestOf(this);
    const { servername } = this.outbound;
    // One name for every request, or undici opens a new connection whenever the Host header changes.
    const options = { method, path, headers: headers as string[], body, upgrade, servername };
    dispatcher.dispatch(options as Dispatcher.DispatchOptions, this);
  }

  /**
   * A kept connection that the server closed as we used it: the same attempt goes out once more on a new one.
   * Only where that cannot do a thing twice, and only before any byte of an answer.
   */
  private isStale(error: Error): boolean {
    const { call } = this.attempt;
    return (
      this.fresh === undefined &&
      this.abort !== undefined &&
      !this.wasStarted &&
      call.idempotent &&
      call.replayable &&
      brokeReused(error)
    );
  }

  /** These have no body, whatever length they tell; undici waits for it. Source: RFC 9112, section 6.3. */
  private isWhole(error: Error): boolean {
    const { status } = this;
    const isBodiless = this.answered && (status === 204 || status === 304);
    return isBodiless && codeOf(error) === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH";
  }

  private kindOf(error: Error): LegFailure["kind"] {
    const code = codeOf(error);
    if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED") return "invalid";
    if (code === "UND_ERR_CLOSED" || code === "UND_ERR_DESTROYED") return "refused";
    return this.abort === undefined ? "connect" : "reset";
  }

  /** Bytes of the reply still to come; Infinity: not told. */
  private lengthLeft(): number {
    for (let i = 0; i + 1 < this.headers.length; i += 2) {
      if (this.headers[i]?.length !== 14) continue;
      if (this.headers[i]?.toString("latin1").toLowerCase() !== "content-length") continue;
      return Number(this.headers[i + 1]?.toString("latin1")) - this.bytes;
    }
    // Chunked: the bytes are counted as they come.
    return 0;
  }

  private inParser(run: () => void): void {
    parsing++;
    try {
      run();
    } finally {
      parsing--;
    }
  }

  /** The connection is someone else's again. */
  private close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.outbound.legs--;
    this.outbound.setup.timers.wakeAt(this, Number.POSITIVE_INFINITY);
    const { fresh } = this;
    if (fresh !== undefined) setImmediate(() => this.outbound.dropFresh(fresh));
  }
}

const NO_HEADERS: Buffer[] = [];
const DROPPED: Error = Object.assign(new Error("not wanted any more"), { code: "DROPPED" });

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
