import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { Socket } from "node:net";
import { monotonicMs } from "../monotonic-clock.ts";
import type { PlannedTarget } from "../planned-target.ts";
import { type Carrier, type Exchange, failureKind, type TransportSetup } from "./exchange.ts";
import { pinnedLookup } from "./pinned-lookup.ts";

/** Used by servers that do not say how many they take (RFC 9113, 6.5.2 recommends no fewer). */
const DEFAULT_STREAMS = 100;

export interface SessionOwner {
  onOpen(tookMs: number): void;
  /** It can carry one more than before. */
  onRoom(): void;
  /** Once. `failure` where it could not be opened, and was not given up. */
  onGone(failure: string | undefined): void;
}

/** One HTTP/2 connection. */
export class Http2Session implements Carrier {
  isOpening: boolean;
  private readonly owner: SessionOwner;
  private readonly session: ClientHttp2Session;
  private socket: Socket | undefined;
  private readonly streams: Map<Exchange, ClientHttp2Stream>;
  private maxStreams: number;
  private isGone: boolean;
  /** The server takes no more on it. */
  private isClosing: boolean;
  private failure: string | undefined;
  private isGivenUp: boolean;
  private readonly patience: NodeJS.Timeout;

  constructor(
    origin: string,
    { tls, addresses, openTimeoutMs }: Pick<TransportSetup, "tls" | "addresses" | "openTimeoutMs">,
    owner: SessionOwner,
  ) {
    const startMs = monotonicMs();
    this.isOpening = true;
    this.owner = owner;
    this.streams = new Map();
    this.maxStreams = DEFAULT_STREAMS;
    this.isGone = false;
    this.isClosing = false;
    this.failure = undefined;
    this.isGivenUp = false;
    this.socket = undefined;
    this.patience = setTimeout(() => this.destroy(), openTimeoutMs);
    const ca = tls.ca === undefined ? {} : { ca: tls.ca };
    const lookup = pinnedLookup(addresses[new URL(origin).hostname]);
    this.session = connect(origin, {
      ...ca,
      ...(lookup !== undefined && { lookup }),
      rejectUnauthorized: tls.insecure !== true,
    });
    this.session.once("connect", (_, socket: Socket) => {
      this.socket = socket;
      this.isOpening = false;
      clearTimeout(this.patience);
      owner.onOpen(monotonicMs() - startMs);
    });
    this.session.on("remoteSettings", ({ maxConcurrentStreams = DEFAULT_STREAMS }) => {
      const hadNoRoom = this.room <= 0;
      this.maxStreams = maxConcurrentStreams;
      if (hadNoRoom && this.room > 0) owner.onRoom();
    });
    this.session.on("goaway", () => {
      this.isClosing = true;
      this.retire();
    });
    this.session.on("error", (error) => {
      this.failure ??= failureKind(error);
    });
    this.session.once("close", () => this.gone());
  }

  /** How many requests it takes now. */
  get room(): number {
    const { closed, destroyed } = this.session;
    if (this.isOpening || this.isGone || this.isClosing || closed || destroyed) return 0;
    return this.maxStreams - this.streams.size;
  }

  send(target: PlannedTarget, exchange: Exchange): void {
    exchange.carrier = this;
    exchange.onWritten();
    try {
      const stream = this.request(target);
      this.streams.set(exchange, stream);
      this.listen(stream, exchange);
      if (target.body !== undefined) stream.end(target.body);
    } catch (error) {
      // Headers that HTTP/2 does not allow.
      exchange.onFailure(failureKind(error as Error));
    }
  }

  private request(target: PlannedTarget): ClientHttp2Stream {
    const { host, ...headers } = target.headers;
    const length = target.body === undefined ? {} : { "content-length": target.body.length };
    return this.session.request(
      {
        ":method": target.method,
        ":path": target.path,
        ...(host === undefined ? {} : { ":authority": host }),
        "user-agent": "bobtail",
        accept: "*/*",
        ...headers,
        ...length,
      },
      { endStream: target.body === undefined },
    );
  }

  cancel(exchange: Exchange): void {
    const stream = this.streams.get(exchange);
    this.streams.delete(exchange);
    stream?.close(constants.NGHTTP2_CANCEL);
    this.retire();
  }

  /** Gives it up. */
  destroy(): void {
    this.isGivenUp = true;
    this.session.destroy();
    // A session that is closing only ends its side, and waits for a server that may never end its own.
    this.socket?.destroy();
    this.gone();
  }

  /** The last answer is there that the server lets it have: the connection makes way for the next. */
  private retire(): void {
    if (this.isClosing && this.streams.size === 0) this.destroy();
  }

  private listen(stream: ClientHttp2Stream, exchange: Exchange): void {
    let hasHead = false;
    let isWhole = false;
    let failure: string | undefined;
    const isUnderWay = (): boolean => this.streams.has(exchange);
    stream.on("response", (headers) => {
      hasHead = true;
      if (isUnderWay()) exchange.onHead(headers[":status"] ?? 0);
    });
    stream.on("data", (bytes: Uint8Array) => {
      if (isUnderWay()) exchange.onBody(bytes);
    });
    stream.once("end", () => {
      isWhole = hasHead;
    });
    stream.once("aborted", () => {
      isWhole = false;
      failure ??= "cut short";
    });
    stream.on("error", (error) => {
      failure ??= failureKind(error);
    });
    stream.once("close", () => {
      if (!this.streams.delete(exchange)) return;
      if (isWhole && failure === undefined && stream.rstCode === constants.NGHTTP2_NO_ERROR)
        exchange.onEnd();
      else exchange.onFailure(failure ?? this.failure ?? "closed without an answer");
      if (this.room > 0) this.owner.onRoom();
      this.retire();
    });
  }

  private gone(): void {
    if (this.isGone) return;
    this.isGone = true;
    clearTimeout(this.patience);
    const hasFailed = this.isOpening && !this.isGivenUp;
    this.isOpening = false;
    this.owner.onGone(hasFailed ? (this.failure ?? "closed while connecting") : undefined);
    // Streams that the session took with it have said so themselves, or say so now.
    const left = [...this.streams.keys()];
    this.streams.clear();
    for (const exchange of left) exchange.onFailure(this.failure ?? "closed without an answer");
  }
}
