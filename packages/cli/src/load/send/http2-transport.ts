import type { PlannedTarget } from "../planned-target.ts";
import type { Carrier, Exchange, Transport, TransportSetup } from "./exchange.ts";
import { Http2Session } from "./http2-session.ts";

/** HTTP/2: many requests at once on each connection, a new one opened when those that are there are full. */
export function createHttp2Transport(setup: TransportSetup): Transport {
  const hosts = new Map<string, Host>();
  for (const { origin } of setup.targets)
    if (!hosts.has(origin)) hosts.set(origin, new Host(origin, setup));
  return {
    send(target, exchange) {
      hosts.get(target.origin)?.send(target, exchange);
    },
    close() {
      for (const host of hosts.values()) host.close();
    },
  };
}

/** The connections to one host, and those who wait for a place on one. */
class Host implements Carrier {
  private readonly origin: string;
  private readonly setup: TransportSetup;
  private readonly sessions: Set<Http2Session>;
  private readonly waiting: Map<Exchange, PlannedTarget>;

  constructor(origin: string, setup: TransportSetup) {
    this.origin = origin;
    this.setup = setup;
    this.sessions = new Set();
    this.waiting = new Map();
  }

  send(target: PlannedTarget, exchange: Exchange): void {
    const session = this.waiting.size === 0 ? this.withRoom() : undefined;
    if (session !== undefined) {
      session.send(target, exchange);
      return;
    }
    exchange.carrier = this;
    this.waiting.set(exchange, target);
    this.openMore();
  }

  cancel(exchange: Exchange): void {
    this.waiting.delete(exchange);
  }

  close(): void {
    this.waiting.clear();
    for (const session of this.sessions) session.destroy();
  }

  private withRoom(): Http2Session | undefined {
    for (const session of this.sessions) if (session.room > 0) return session;
    return undefined;
  }

  private serve(): void {
    for (const [exchange, target] of this.waiting) {
      const session = this.withRoom();
      if (session === undefined) break;
      this.waiting.delete(exchange);
      session.send(target, exchange);
    }
    this.openMore();
  }

  /** One at a time: how many requests it will take is known when it is open. */
  private openMore(): void {
    if (this.waiting.size === 0 || this.sessions.size >= this.setup.connections) return;
    for (const session of this.sessions) if (session.isOpening) return;
    const session = new Http2Session(this.origin, this.setup, {
      onOpen: (tookMs) => {
        this.setup.onConnect(tookMs);
        this.serve();
      },
      onRoom: () => this.serve(),
      onGone: (failure) => {
        this.sessions.delete(session);
        // None of those who waited for it would fare better.
        if (failure !== undefined) this.failAll(failure);
        this.serve();
      },
    });
    this.sessions.add(session);
  }

  private failAll(failure: string): void {
    const all = [...this.waiting.keys()];
    this.waiting.clear();
    for (const exchange of all) exchange.onFailure(failure);
  }
}
