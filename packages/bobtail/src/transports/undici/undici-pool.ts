import type { Socket } from "node:net";
import { type buildConnector, Client } from "undici";
import type { Clock } from "../../core/clock.ts";
import { SpareSocket } from "./spare-socket.ts";
import type { DialCallback, Dialer } from "./undici-dialer.ts";

/** Requests at one time on one HTTP/2 connection. */
const H2_STREAMS = 100;

/** The longest delay that a Node timer takes. */
const MAX_TIMER_MS = 2_147_483_647;

export interface PoolOptions {
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly allowH2: boolean;
  readonly keepAliveMs: number;
}

/** One connection to one endpoint: what is under way on it, and whether it has been used before. */
export class Connection {
  readonly client: Client;
  /** Requests given to it and not ended. */
  active: number;
  /** Answers begun on its present socket. */
  served: number;
  /** How many sockets it has asked for. */
  epoch: number;
  /** Its present socket was opened before it was asked for. */
  aged: boolean;
  /** Most requests at one time: 1, or the streams of HTTP/2. */
  limit: number;
  connected: boolean;
  dropped: boolean;

  constructor(client: (connection: Connection) => Client) {
    this.active = 0;
    this.served = 0;
    this.epoch = 0;
    this.aged = false;
    this.limit = 1;
    this.connected = false;
    this.dropped = false;
    this.client = client(this);
  }

  /** The server may have closed it while it was idle: a failure before any answer may be no one's fault. */
  get mayBeStale(): boolean {
    return this.connected && (this.served > 0 || this.aged);
  }
}

/**
 * The connections to one endpoint. A request never waits behind another: it gets an idle
 * connection, the most recently used first, or a new one. How many there are is bounded by the
 * service's own limit on attempts.
 */
export class EndpointPool {
  readonly origin: string;
  private readonly options: PoolOptions;
  private readonly connections: Set<Connection>;
  private readonly idle: Connection[];
  private readonly url: URL;
  private spare: SpareSocket | undefined;
  private closing: boolean;

  constructor(url: URL, options: PoolOptions) {
    this.origin = url.origin;
    this.options = options;
    this.connections = new Set();
    this.idle = [];
    this.closing = false;
    this.url = url;
    this.spare = undefined;
  }

  /** Keep one connection open ahead of need, for the second copy of a call to a virtual endpoint; or no longer. */
  keepSpare(on: boolean): void {
    if (on === (this.spare !== undefined)) return;
    this.spare?.close();
    const { dialer, clock, keepAliveMs } = this.options;
    this.spare = on
      ? new SpareSocket(dialer, targetOf(this.url), { clock, maxAgeMs: keepAliveMs })
      : undefined;
  }

  /** Connections, idle or not. */
  get size(): number {
    return this.connections.size;
  }

  /**
   * A connection for one request.
   *
   * @param avoid - those that other copies of the same call have used.
   * @param fresh - one that no request has used yet.
   */
  take(avoid: readonly Connection[], fresh: boolean): Connection {
    const connection = (fresh ? undefined : this.reuse(avoid)) ?? this.open();
    connection.active++;
    if (connection.active >= connection.limit) remove(this.idle, connection);
    if (this.spare !== undefined && !this.idle.some((c) => c.connected && !avoid.includes(c)))
      this.spare.keep();
    return connection;
  }

  /** The request has ended. `broken`: its HTTP/1.1 connection is of no more use. */
  give(connection: Connection, broken: boolean): void {
    connection.active--;
    if ((broken && connection.limit === 1) || connection.dropped) this.drop(connection);
    else if (this.closing && connection.active === 0) this.drop(connection);
    else if (!this.idle.includes(connection)) this.idle.push(connection);
  }

  /** No more requests: what runs may end, what is idle is closed. */
  retire(): void {
    this.closing = true;
    this.spare?.close();
    for (const connection of [...this.connections])
      if (connection.active === 0) this.drop(connection);
  }

  /** Close every connection, whatever runs on it. */
  async destroy(): Promise<void> {
    this.closing = true;
    this.spare?.close();
    const clients = [...this.connections].map((c) => c.client);
    this.connections.clear();
    this.idle.length = 0;
    await Promise.all(clients.map((client) => client.destroy()));
  }

  private reuse(avoid: readonly Connection[]): Connection | undefined {
    for (let i = this.idle.length - 1; i >= 0; i--) {
      const connection = this.idle[i];
      if (connection !== undefined && !avoid.includes(connection)) return connection;
    }
    return undefined;
  }

  private open(): Connection {
    const connection = new Connection((self) => this.client(self));
    this.connections.add(connection);
    if (connection.limit > 1) this.idle.push(connection);
    return connection;
  }

  private client(connection: Connection): Client {
    const keepAliveMs = Math.min(this.options.keepAliveMs, MAX_TIMER_MS);
    const client = new Client(this.origin, {
      connect: (target, done) => this.connect(connection, target, done as DialCallback),
      pipelining: 1,
      allowH2: this.options.allowH2,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // The call's deadline, the attempt's timeout and the body's idle timeout do this, and are exact.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    client.on("disconnect", () => {
      connection.connected = false;
      connection.served = 0;
      if (connection.active === 0) this.drop(connection);
      else if (connection.limit > 1) this.detach(connection);
    });
    return client;
  }

  private connect(
    connection: Connection,
    target: buildConnector.Options,
    done: DialCallback,
  ): void {
    connection.epoch++;
    connection.served = 0;
    connection.aged = false;
    const connected = (socket: Socket): void => {
      connection.connected = true;
      if ("alpnProtocol" in socket && socket.alpnProtocol === "h2") this.multiplex(connection);
      done(null, socket);
    };
    const spare = this.spare?.take(target.servername);
    if (spare !== undefined) {
      connection.aged = true;
      // The client expects its answer after this call has returned.
      setImmediate(() => {
        if (!spare.destroyed) connected(spare);
        else this.connect(connection, target, done);
      });
      return;
    }
    this.options.dialer.dial(target, (error, socket) => {
      if (error !== null) done(error, null);
      else connected(socket);
    });
  }

  private multiplex(connection: Connection): void {
    connection.limit = H2_STREAMS;
    connection.client.pipelining = H2_STREAMS;
    if (!connection.dropped && !this.idle.includes(connection)) this.idle.push(connection);
  }

  /** No new request for it; those that run may end. */
  private detach(connection: Connection): void {
    connection.dropped = true;
    remove(this.idle, connection);
  }

  private drop(connection: Connection): void {
    this.detach(connection);
    if (connection.active > 0 || !this.connections.delete(connection)) return;
    // Undici is in the middle of this client's own events here.
    queueMicrotask(() => void connection.client.destroy());
  }
}

function remove(list: Connection[], item: Connection): void {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
}

function targetOf(url: URL): buildConnector.Options {
  return {
    hostname: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    host: url.host,
    protocol: url.protocol,
    port: url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port,
  };
}
