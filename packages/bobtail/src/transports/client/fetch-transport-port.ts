import type { Clock, Timers } from "../../core/clock.ts";
import type { Endpoint } from "../../policies/endpoint.ts";
import type { ServiceOptions } from "../../policies/options.ts";
import type { CallOptions, Sender } from "./sender.ts";

/**
 * What `createClient({ transport })` takes: a way to send HTTP requests to endpoints. `bobtail/undici`
 * has one; `bobtail/testing` has a scripted one; another needs this file and `sender.ts` alone.
 */
export interface FetchTransport {
  /** Called once, when the client is made. Throws `ERR_BOBTAIL_OPTION` for what it cannot do. */
  connect(setup: FetchSetup): FetchConnections;
}

export interface FetchSetup {
  /** Checked already: `timeout`, `limit.replayBodyBytes`, `retry.on` are the transport's to obey. */
  readonly options: ServiceOptions;
  readonly clock: Clock;
  readonly timers: Timers;
}

/** An endpoint and where it is. The transport may use `endpoint.host`, and nothing else of it. */
export interface FetchEndpoint {
  readonly endpoint: Endpoint;
  /** An origin: `http:` or `https:`, host and port, without credentials, path or query. */
  readonly url: URL;
}

/** `fetch`'s own init, and what Bobtail asks beside it. `signal` is the same in both. */
export type FetchInit = RequestInit & CallOptions;

/** What the levels below must know, whichever way the transport tells them. */
export interface FetchMarks {
  /** This level or one above it hedges: every copy, the primary too, asks the levels below not to. */
  readonly noHedge: boolean;
}

/** One request, ready to be sent any number of times that `replayable` allows. */
export interface PreparedFetch {
  readonly sender: Sender<Response>;
  /** By `init.idempotent`, else by method, else by an `idempotency-key` header. */
  readonly idempotent: boolean;
  /** The body can be sent again. */
  readonly replayable: boolean;
  /** The request says that an upper level hedges already; default false. */
  readonly noHedge?: boolean | undefined;
  /** `init.key`, else `undefined`: the client's default class. */
  readonly key: string | undefined;
  /** `init.signal`, else the `Request`'s own. */
  readonly signal: AbortSignal | null | undefined;
}

export interface FetchConnections {
  /**
   * Resolves the request against the service, before a copy of it is sent.
   *
   * A path, or a URL whose origin is one of the endpoints' (the pick then ignores which); else throws
   * `ERR_BOBTAIL_FOREIGN_ORIGIN`. A promise only where a body must be read first, so that it can be
   * replayed; that reading heeds the caller's signal and rejects with its reason.
   */
  prepare(
    input: string | URL | Request,
    init: FetchInit,
    marks: FetchMarks,
  ): PreparedFetch | Promise<PreparedFetch>;
  /** The whole set, at the start and after each change. Connections of endpoints that left are closed when idle. */
  setEndpoints(endpoints: readonly FetchEndpoint[]): void;
  /** No request runs any more: close every connection. Called once. */
  close(): Promise<void>;
}
