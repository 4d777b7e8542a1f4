import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { buildConnector, errors } from "undici";
import { type Clock, type Timers, Wakeable } from "../core/clock.ts";

/** How TLS is spoken to endpoints that are given by address. */
export interface TlsOptions {
  /** The name that the certificate must bear; default: the host in the endpoint's URL. */
  readonly servername?: string | undefined;
  /** Authorities to trust, PEM; default: the well-known ones. */
  readonly ca?: string | Buffer | readonly (string | Buffer)[] | undefined;
  /** Our own certificate and key, PEM, for servers that ask for one. */
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  /** Refuse a server whose certificate does not check out; default true. */
  readonly rejectUnauthorized?: boolean | undefined;
}

export interface DialerOptions {
  readonly tls: TlsOptions;
  readonly allowH2: boolean;
  readonly connectMs: number;
  readonly clock: Clock;
  readonly timers: Timers;
}

export type DialCallback = (...result: [null, Socket | TLSSocket] | [Error, null]) => void;

/** Opens connections, none of which takes longer than `connectMs`. */
export class Dialer {
  private readonly connector: buildConnector.connector;
  private readonly options: DialerOptions;

  constructor(options: DialerOptions) {
    this.options = options;
    // The coarse timer of undici itself is up to a second late, so ours does it.
    this.connector = buildConnector({
      ...definedOnly(options.tls),
      allowH2: options.allowH2,
      timeout: 0,
    });
  }

  dial(target: buildConnector.Options, done: DialCallback): void {
    const { clock, timers, connectMs } = this.options;
    const limit = new ConnectLimit(connectMs, `${target.hostname}:${target.port}`);
    // The declared type has no result; the connector returns the socket it is opening.
    limit.socket = this.connector(target, (error, socket) => {
      timers.wakeAt(limit, Number.POSITIVE_INFINITY);
      if (error === null) done(null, socket);
      else done(error, null);
    }) as unknown as Socket | undefined;
    if (connectMs < Number.POSITIVE_INFINITY) timers.wakeAt(limit, clock.nowMs() + connectMs);
  }
}

class ConnectLimit extends Wakeable {
  socket: Socket | undefined;
  private readonly connectMs: number;
  private readonly where: string;

  constructor(connectMs: number, where: string) {
    super();
    this.socket = undefined;
    this.connectMs = connectMs;
    this.where = where;
  }

  fire(): void {
    this.socket?.destroy(
      new errors.ConnectTimeoutError(`${this.where}: no connection within ${this.connectMs} ms`),
    );
  }
}

/** A failed spare is not tried again sooner, so that a dead endpoint is not dialled twice a call. */
const SPARE_PAUSE_MS = 1000;

/** One connection opened before anyone needs it: the second copy to a virtual endpoint takes it. */
export class SpareSocket {
  private readonly dialer: Dialer;
  private readonly target: buildConnector.Options;
  private readonly clock: Clock;
  private readonly maxAgeMs: number;
  private socket: Socket | undefined;
  private dialling: boolean;
  private closed: boolean;
  private openedMs: number;
  private notBeforeMs: number;

  constructor(
    dialer: Dialer,
    target: buildConnector.Options,
    { clock, maxAgeMs }: { clock: Clock; maxAgeMs: number },
  ) {
    this.dialer = dialer;
    this.target = target;
    this.clock = clock;
    this.maxAgeMs = maxAgeMs;
    this.socket = undefined;
    this.dialling = false;
    this.closed = false;
    this.openedMs = 0;
    this.notBeforeMs = Number.NEGATIVE_INFINITY;
  }

  /** Open one, unless there is one or one is on its way. */
  keep(): void {
    const nowMs = this.clock.nowMs();
    if (this.socket !== undefined && nowMs - this.openedMs > this.maxAgeMs) this.drop();
    if (this.socket !== undefined || this.dialling || this.closed) return;
    if (nowMs < this.notBeforeMs) return;
    this.dialling = true;
    this.dialer.dial(this.target, (error, socket) => {
      this.dialling = false;
      if (error !== null) this.notBeforeMs = this.clock.nowMs() + SPARE_PAUSE_MS;
      else if (this.closed) socket.destroy();
      else this.hold(socket);
    });
  }

  /** The open spare, if there is one for that server name; it is the caller's now. */
  take(servername: string | null | undefined): Socket | undefined {
    const socket = this.socket;
    if (socket === undefined) return undefined;
    if (servername && servername !== this.target.servername) return undefined;
    this.forget();
    if (socket.destroyed || this.clock.nowMs() - this.openedMs > this.maxAgeMs) {
      socket.destroy();
      return undefined;
    }
    socket.ref();
    return socket;
  }

  close(): void {
    this.closed = true;
    this.drop();
  }

  private readonly drop = (): void => {
    const socket = this.socket;
    this.forget();
    socket?.destroy();
  };

  private hold(socket: Socket): void {
    this.socket = socket;
    this.openedMs = this.clock.nowMs();
    socket.unref();
    // Nothing has been asked on it, so whatever can be read is its end or is out of place.
    socket.on("readable", this.drop);
    socket.on("close", this.drop);
  }

  private forget(): void {
    this.socket?.off("readable", this.drop);
    this.socket?.off("close", this.drop);
    this.socket = undefined;
  }
}

function definedOnly(tls: TlsOptions): Record<string, unknown> {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
}
