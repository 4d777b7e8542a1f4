import type { Attempt, Clock, Timers } from "bobtail/engine";
import { type buildConnector, Client, Pool } from "undici";
import type { TlsConfig } from "./config.ts";
import { endpointConnector } from "./endpoint-connector.ts";
import type { Leg, LegEvents, Outbound } from "./engine.ts";
import { SpareSocket } from "./spare-socket.ts";
import { UndiciLeg } from "./undici-leg.ts";

export interface OutboundSetup {
  readonly url: string;
  readonly isVirtual: boolean;
  readonly connectMs: number;
  readonly keepAliveMs: number;
  /** Attempts at one time, those being dropped included. */
  readonly maxLegs: number;
  readonly tls?: TlsConfig | undefined;
  readonly clock: Clock;
  readonly timers: Timers;
}

/** How long a spare connection is kept before it is opened anew. */
const SPARE_AGE_MS = 20_000;
const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * The connections of one endpoint: one request at a time on each. A virtual endpoint keeps a second set for
 * further copies, with one connection open ahead, so that a copy does not wait for a handshake.
 */
export class UndiciOutbound implements Outbound {
  readonly setup: OutboundSetup;
  /** Attempts that have not let go of their connection. */
  legs: number;
  /** What undici tells connections to the same endpoint apart by. */
  readonly servername: string;
  private readonly connector: buildConnector.connector;
  private readonly pool: Pool;
  private readonly extra: Pool | undefined;
  private readonly spare: SpareSocket | undefined;
  private readonly fresh: Set<Client>;

  constructor(setup: OutboundSetup) {
    this.setup = setup;
    this.legs = 0;
    this.servername = new URL(setup.url).hostname;
    this.fresh = new Set();
    this.connector = endpointConnector(setup.connectMs, setup.tls);
    this.pool = new Pool(setup.url, this.options(this.connector));
    this.spare = undefined;
    this.extra = undefined;
    if (setup.isVirtual) {
      const spare = new SpareSocket(this.connector, setup.clock, SPARE_AGE_MS);
      this.spare = spare;
      this.extra = new Pool(
        setup.url,
        this.options((target, done) => spare.connect(target, done)),
      );
    }
  }

  leg(attempt: Attempt, events: LegEvents): Leg {
    return new UndiciLeg(attempt, events, this);
  }

  /** The connections for this attempt. */
  poolFor(attempt: Attempt): Pool {
    if (this.extra === undefined || attempt.number === 1) {
      if (attempt.call.idempotent) this.spare?.keep(this.setup.url);
      return this.pool;
    }
    return this.extra;
  }

  /** A connection that no request has used, for one request. */
  freshClient(): Client {
    const client = new Client(this.setup.url, this.options(this.connector));
    this.fresh.add(client);
    return client;
  }

  dropFresh(client: Client): void {
    if (this.fresh.delete(client)) void client.destroy();
  }

  async close(): Promise<void> {
    this.spare?.close();
    await Promise.all([this.pool.close(), this.extra?.close()]);
  }

  async destroy(): Promise<void> {
    this.spare?.close();
    const clients = [...this.fresh];
    this.fresh.clear();
    await Promise.all([
      this.pool.destroy(),
      this.extra?.destroy(),
      ...clients.map((client) => client.destroy()),
    ]);
  }

  private options(connect: buildConnector.connector): Pool.Options {
    const keepAliveMs = Math.min(this.setup.keepAliveMs, LONGEST_TIMER_MS);
    return {
      connect,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      keepAliveTimeoutThreshold: 1_000,
      // The attempt's timeout, the body's idle timeout and the deadline do this, and are exact.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
  }
}
