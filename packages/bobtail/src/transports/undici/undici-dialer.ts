import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { buildConnector, errors } from "undici";
import { type Clock, type Timers, Wakeable } from "../../core/clock.ts";
import type { TlsOptions } from "./tls-options.ts";

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

function definedOnly(tls: TlsOptions): Record<string, unknown> {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
}
