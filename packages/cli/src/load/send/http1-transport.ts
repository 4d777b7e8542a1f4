import { monotonicMs } from "../monotonic-clock.ts";
import type { PlannedTarget } from "../planned-target.ts";
import { addressOf } from "./address.ts";
import type { Carrier, Exchange, Transport, TransportSetup } from "./exchange.ts";
import { type Address, type ConnectionOwner, Http1Connection } from "./http1-connection.ts";
import { requestBytes } from "./request-bytes.ts";

interface Prepared {
  readonly host: Host;
  readonly bytes: string | Buffer;
  readonly isHead: boolean;
}

/**
 * HTTP/1.1 over keep-alive connections, one request at a time on each, opened when none is idle.
 *
 * On sockets, without a client in between: a whole run with its records costs less CPU a request than undici's dispatch
 * alone (`bench/load.mjs`), and the moment at which a request is written is known.
 */
export function createHttp1Transport(setup: TransportSetup): Transport {
  const hosts = new Map<string, Host>();
  const prepared = new Map<PlannedTarget, Prepared>();
  for (const target of setup.targets) {
    const host = hosts.get(target.origin) ?? new Host(addressOf(target.origin, setup), setup);
    hosts.set(target.origin, host);
    prepared.set(target, { host, bytes: requestBytes(target), isHead: target.method === "HEAD" });
  }
  return {
    send(target, exchange) {
      const request = prepared.get(target);
      if (request === undefined) throw new Error(`not prepared for ${target.url}`);
      request.host.send(request, exchange);
    },
    close() {
      for (const host of hosts.values()) host.close();
    },
  };
}

/** The connections to one host, and those who wait for one. */
class Host implements ConnectionOwner, Carrier {
  private readonly address: Address;
  private readonly setup: TransportSetup;
  private readonly all: Set<Http1Connection>;
  /** The one that was used last is the next to be used. */
  private readonly idle: Http1Connection[];
  private readonly opening: Set<Http1Connection>;
  private readonly waiting: Map<Exchange, Prepared>;

  constructor(address: Address, setup: TransportSetup) {
    this.address = address;
    this.setup = setup;
    this.all = new Set();
    this.idle = [];
    this.opening = new Set();
    this.waiting = new Map();
  }

  send(request: Prepared, exchange: Exchange): void {
    const connection = this.waiting.size === 0 ? this.takeIdle() : undefined;
    if (connection !== undefined) {
      connection.send(request.bytes, request.isHead, exchange);
      return;
    }
    exchange.carrier = this;
    this.waiting.set(exchange, request);
    this.openMore();
  }

  cancel(exchange: Exchange): void {
    this.waiting.delete(exchange);
  }

  close(): void {
    this.waiting.clear();
    for (const connection of this.all) connection.destroy();
  }

  onOpen(connection: Http1Connection, tookMs: number): void {
    this.opening.delete(connection);
    this.setup.onConnect(tookMs);
    this.onFree(connection);
  }

  onFree(connection: Http1Connection): void {
    const [first] = this.waiting;
    if (first === undefined) {
      connection.isIdle = true;
      this.idle.push(connection);
      return;
    }
    const [exchange, request] = first;
    this.waiting.delete(exchange);
    connection.send(request.bytes, request.isHead, exchange);
  }

  onGone(connection: Http1Connection, failure: string | undefined): void {
    this.all.delete(connection);
    if (connection.isIdle) this.idle.splice(this.idle.indexOf(connection), 1);
    const wasOpening = this.opening.delete(connection);
    if (wasOpening && failure !== undefined && this.waiting.size > this.opening.size) {
      const [first] = this.waiting.keys();
      if (first !== undefined) {
        this.waiting.delete(first);
        first.onFailure(failure);
      }
    }
    this.openMore();
  }

  private takeIdle(): Http1Connection | undefined {
    const nowMs = monotonicMs();
    for (let connection = this.idle.pop(); connection !== undefined; connection = this.idle.pop()) {
      connection.isIdle = false;
      if (connection.isFresh(nowMs)) return connection;
      connection.destroy();
    }
    return undefined;
  }

  private openMore(): void {
    while (this.opening.size < this.waiting.size && this.all.size < this.setup.connections) {
      const connection = new Http1Connection(this.address, this);
      this.all.add(connection);
      this.opening.add(connection);
    }
  }
}
