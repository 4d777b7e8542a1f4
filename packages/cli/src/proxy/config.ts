import type { ServiceOptions } from "bobtail";

/** What a proxy is made of, as plain data. The policy file's reader produces it and has validated it. */
export interface ProxyConfig {
  readonly listeners: readonly ListenerConfig[];
  /** Where operators look: health, metrics, statistics. Absent: no admin address. */
  readonly admin?: Address | undefined;
  /** By name. A listener or route may name only these. */
  readonly services: Readonly<Record<string, ServiceConfig>>;
  /** Gets one JSON line a request, without its line end; `stdout` writes them there. Absent: no access log. */
  readonly accessLog?: ((line: string) => void) | "stdout" | undefined;
  /**
   * Peers, as CIDR ranges, whose `bobtail-*` headers, deadlines and forwarding headers are believed.
   * Default: loopback (`127.0.0.0/8`, `::1/128`).
   */
  readonly trust?: readonly string[] | undefined;
  readonly client?: ClientLimits | undefined;
}

export interface Address {
  /** An IP address or a name to listen on. */
  readonly host: string;
  /** In [0, 65,535]; 0 takes any free port. */
  readonly port: number;
}

export interface ListenerConfig extends Address {
  /** One service for every request, or routes tried in their order; a request that matches none is answered 404. */
  readonly service: string | readonly RouteConfig[];
}

export interface RouteConfig {
  /** Names the route in metrics; default the service's name. */
  readonly name?: string | undefined;
  /** The request's host without its port, in any case; absent: every host. */
  readonly host?: string | undefined;
  /** The path is this, or continues it after a `/`; absent: every path. */
  readonly path?: string | undefined;
  readonly service: string;
}

/** When a reply counts as an answer. `auto`: at its headers, but at the first body byte for `text/event-stream`. */
export type CommitPoint = "headers" | "first-byte" | "auto";

export interface ServiceConfig {
  readonly endpoints: readonly EndpointConfig[];
  readonly options: ServiceOptions;
  /** Default `auto`. */
  readonly commit?: CommitPoint | undefined;
  /** For endpoints whose address begins with `https`. */
  readonly tls?: TlsConfig | undefined;
}

export interface EndpointConfig {
  /** `http://host:port` or `https://host:port`, without a path; the key by which state survives a reload. */
  readonly url: string;
  /** Share of traffic relative to the others; above 0, default 1. */
  readonly weight?: number | undefined;
  /** One address that stands for several servers: a further copy there takes another connection. Default false. */
  readonly virtual?: boolean | undefined;
}

export interface TlsConfig {
  /** The name in the server's certificate, for endpoints given by address. Default the address's host. */
  readonly serverName?: string | undefined;
  /** PEM text of the authorities to believe; default those of the system's Node. */
  readonly ca?: string | undefined;
  /** PEM text of the client's certificate and key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** False accepts any certificate, which is for tests alone; default true. */
  readonly verify?: boolean | undefined;
}

/** What one client may cost. */
export interface ClientLimits {
  /** Open connections in all; a whole number >= 1, default 10,000. More are closed at once. */
  readonly connections?: number | undefined;
  /** Request line and headers together; bytes, default 16,384. More: 431. */
  readonly headerBytes?: number | undefined;
  /** Header lines; a whole number >= 1, default 128. More: 431. */
  readonly headerCount?: number | undefined;
  /** From the connection's or request's first byte to the end of its headers; ms above 0, default 10,000. Longer: 408. */
  readonly headersMs?: number | undefined;
  /** To the end of the request's body; ms >= headersMs, default 300,000. Longer: 408. */
  readonly requestMs?: number | undefined;
  /** An open connection between two requests; ms above 0, default 60,000. */
  readonly idleMs?: number | undefined;
  /** An upgraded connection on which neither side says anything; ms above 0, default 3,600,000. */
  readonly tunnelIdleMs?: number | undefined;
}

export interface RunningProxy {
  /** Where each listener is bound, in the order of the configuration. */
  readonly addresses: readonly BoundAddress[];
  readonly adminAddress: BoundAddress | undefined;
  /**
   * Swaps the configuration at once. Endpoints that stay keep their state; requests under way end as they began.
   * The admin address stays, and a listener that stays keeps its client limits.
   * Rejects, with the old configuration in force, when a new listener cannot be bound or an option is out of range.
   */
  reload(config: ProxyConfig): Promise<void>;
  /** Counts a reload that came to nothing before there was a configuration to swap. */
  noteFailedReload(): void;
  stats(): ProxyStats;
  /** Stops accepting, answers 503 on `/readyz`, and resolves when nothing runs any more or after `graceMs`; then closed. */
  drain(graceMs: number): Promise<void>;
  /** Ends everything now. */
  close(): Promise<void>;
}

export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

/** A page of numbers: counts since the start, and what is so now. */
export interface ProxyStats {
  readonly schema: "bobtail.proxy.stats/1";
  readonly uptime_ms: number;
  readonly draining: boolean;
  readonly connections: number;
  /** Requests being served, tunnels included. */
  readonly running: number;
  readonly reloads: { readonly ok: number; readonly failed: number };
  readonly services: Readonly<Record<string, ServiceReport>>;
}

export interface ServiceReport {
  readonly calls: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly aborted: number;
  readonly shed: number;
  readonly deadline_exceeded: number;
  readonly running: number;
  readonly pending: number;
  readonly attempts: number;
  readonly hedges: number;
  readonly hedges_won: number;
  readonly retries: number;
  readonly retries_won: number;
  readonly replaced: number;
  readonly skipped: Readonly<Record<string, number>>;
  readonly budget_tokens: number;
  readonly budget_capacity: number;
  readonly endpoints: readonly EndpointReport[];
}

interface EndpointReport {
  readonly name: string;
  readonly outstanding: number;
  readonly waiting: number;
  readonly picks: number;
  readonly wins: number;
  readonly failures: number;
  readonly superseded: number;
  readonly wasted_ms: number;
  readonly weight: number;
  /** Null while unmeasured. */
  readonly latency_ewma_ms: number | null;
  readonly error_share_ratio: number;
}
