import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { type SecureContext, connect as tlsConnect } from "node:tls";
import { monotonicMs } from "../monotonic-clock.ts";
import { type Carrier, type Exchange, failureKind } from "./exchange.ts";
import { ResponseParser, type ResponseSink } from "./response-parser.ts";

/** Bytes are read into it and used up before the next socket's turn, so that all share one. */
const READ_BUFFER: Buffer = Buffer.allocUnsafeSlow(65_536);
/** A server that says how long it keeps a connection is not put to the test in the last second of it. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

export interface Address {
  readonly host: string;
  readonly port: number;
  /** Undefined: the host's name is resolved as usual. */
  readonly lookup: LookupFunction | undefined;
  /** Undefined: no TLS. */
  readonly secure: { readonly context: SecureContext; readonly insecure: boolean } | undefined;
  /** A connection that has not opened by then is given up, so that another can take its place. */
  readonly openTimeoutMs: number;
}

/** Whoever owns the connections to one host. */
export interface ConnectionOwner {
  onOpen(connection: Http1Connection, tookMs: number): void;
  /** It has carried an exchange to its end and can carry the next. */
  onFree(connection: Http1Connection): void;
  /** Once. `failure` where it could not be opened, and was not given up. */
  onGone(connection: Http1Connection, failure: string | undefined): void;
}

/** One keep-alive connection: one exchange at a time. */
export class Http1Connection implements Carrier, ResponseSink {
  /** Its place in the owner's list of idle ones. */
  isIdle: boolean;
  private readonly owner: ConnectionOwner;
  private readonly socket: Socket;
  private readonly parser: ResponseParser;
  private readonly startMs: number;
  private readonly patience: NodeJS.Timeout;
  private state: "opening" | "open" | "gone";
  private exchange: Exchange | undefined;
  private reusableUntilMs: number;
  private keepAliveMs: number;
  private failure: string | undefined;
  private isGivenUp: boolean;

  constructor(address: Address, owner: ConnectionOwner) {
    this.isIdle = false;
    this.owner = owner;
    this.parser = new ResponseParser(this);
    this.startMs = monotonicMs();
    this.state = "opening";
    this.exchange = undefined;
    this.reusableUntilMs = Number.POSITIVE_INFINITY;
    this.keepAliveMs = 0;
    this.failure = undefined;
    this.isGivenUp = false;
    this.patience = setTimeout(() => this.destroy(), address.openTimeoutMs);
    this.socket = openSocket(address, (length) => this.read(length));
    this.socket.setNoDelay(true);
    this.socket.once(address.secure === undefined ? "connect" : "secureConnect", () => {
      this.state = "open";
      clearTimeout(this.patience);
      owner.onOpen(this, monotonicMs() - this.startMs);
    });
    this.socket.on("error", (error) => {
      this.failure ??= failureKind(error);
    });
    this.socket.once("end", () => this.end());
    this.socket.once("close", () => this.gone());
  }

  /** The server has not said that it will have closed it by now. */
  isFresh(nowMs: number): boolean {
    return this.state === "open" && nowMs < this.reusableUntilMs;
  }

  send(request: string | Buffer, isHead: boolean, exchange: Exchange): void {
    this.exchange = exchange;
    exchange.carrier = this;
    this.parser.expect(isHead);
    exchange.onWritten();
    if (typeof request === "string") this.socket.write(request, "latin1");
    else this.socket.write(request);
  }

  cancel(exchange: Exchange): void {
    if (this.exchange !== exchange) return;
    this.exchange = undefined;
    this.destroy();
  }

  /** Gives it up. */
  destroy(): void {
    this.isGivenUp = true;
    this.socket.destroy();
    this.gone();
  }

  onHead(status: number): void {
    this.exchange?.onHead(status);
  }

  onBody(bytes: Uint8Array): void {
    this.exchange?.onBody(bytes);
  }

  onEnd(keepAliveMs: number): void {
    this.keepAliveMs = keepAliveMs;
    const { exchange } = this;
    this.exchange = undefined;
    exchange?.onEnd();
  }

  private read(length: number): void {
    if (this.state === "gone") return;
    const wasBusy = this.exchange !== undefined;
    const problem = this.parser.read(READ_BUFFER.subarray(0, length));
    if (problem !== undefined) this.fail(problem);
    else if (wasBusy && this.exchange === undefined) this.release();
  }

  /** Whoever has not sent its whole request when the answer is over has broken the connection for the next. */
  private release(): void {
    if ((this.state as string) === "gone") return;
    if (this.keepAliveMs <= 0 || this.socket.writableLength > 0) {
      this.destroy();
      return;
    }
    this.reusableUntilMs = monotonicMs() + this.keepAliveMs - KEEP_ALIVE_MARGIN_MS;
    this.owner.onFree(this);
  }

  private end(): void {
    const problem = this.state === "opening" ? "closed while connecting" : this.parser.end();
    if (problem === undefined) this.destroy();
    else this.fail(problem);
  }

  private fail(kind: string): void {
    this.failure ??= kind;
    this.socket.destroy();
    this.gone();
  }

  private gone(): void {
    if (this.state === "gone") return;
    const hasFailed = this.state === "opening" && !this.isGivenUp;
    this.state = "gone";
    clearTimeout(this.patience);
    const { exchange } = this;
    this.exchange = undefined;
    this.owner.onGone(this, hasFailed ? (this.failure ?? "closed while connecting") : undefined);
    exchange?.onFailure(this.failure ?? "closed without an answer");
  }
}

function openSocket(address: Address, read: (length: number) => void): Socket {
  const { host, port, lookup, secure } = address;
  const onread = {
    buffer: READ_BUFFER,
    callback(length: number): boolean {
      read(length);
      return true;
    },
  };
  const to = { host, port, ...(lookup !== undefined && { lookup }) };
  if (secure === undefined) return connect({ ...to, onread });
  const options = {
    ...to,
    // An address is no server name (RFC 6066, 3).
    servername: isIP(host) === 0 ? host : "",
    secureContext: secure.context,
    rejectUnauthorized: !secure.insecure,
    ALPNProtocols: ["http/1.1"],
    onread,
  };
  return tlsConnect(options);
}
