import { checkOption } from "../../core/errors.ts";
import type {
  FetchConnections,
  FetchEndpoint,
  FetchInit,
  FetchMarks,
  FetchSetup,
  FetchTransport,
  PreparedFetch,
} from "../client/fetch-transport-port.ts";
import { checkOptionKeys } from "../client/option-keys.ts";
import type { AttemptReports, LiveAttempt, Sender } from "../client/sender.ts";
import { curableOf } from "./fetch-answer.ts";
import { FetchAttempt, type FetchSettings } from "./fetch-attempt.ts";
import {
  bodyOf,
  type FetchBody,
  type FetchPlan,
  isRequest,
  planFetch,
  requestBodyOf,
} from "./fetch-request.ts";
import { checkTlsOptions, type TlsOptions } from "./tls-options.ts";
import { Dialer } from "./undici-dialer.ts";
import { type Connection, EndpointPool } from "./undici-pool.ts";

export interface FetchTransportOptions {
  /** How TLS is spoken to `https:` endpoints, which may be given by address. */
  readonly tls?: TlsOptions | undefined;
  /** Speak HTTP/2 where an `https:` endpoint offers it; default false. A copy cancelled there costs no connection. */
  readonly allowH2?: boolean | undefined;
  /**
   * When an answer counts as begun, after which nothing is hedged or sent again: `headers`, or
   * `first-byte` of the body, for servers that answer 200 before they start to work. Default: the first byte
   * for `text/event-stream`, the headers for everything else.
   */
  readonly commit?: "headers" | "first-byte" | undefined;
}

const KEYS: Readonly<Record<keyof FetchTransportOptions, true>> = {
  tls: true,
  allowH2: true,
  commit: true,
};

const DEFAULT_CONNECT_MS = 1000;
const DEFAULT_BODY_IDLE_MS = 10_000;
const DEFAULT_KEEP_ALIVE_MS = 60_000;
const DEFAULT_REPLAY_BYTES = 65_536;

/**
 * `createClient({ transport: fetchTransport() })`: `client.fetch` behaves as `fetch` does, each copy of
 * a call over the connections of the endpoint it was sent to.
 *
 * Sent again or hedged: strings, buffers, URLSearchParams and Blobs, of any size, and the body of a
 * `Request` that is in memory and at most `limit.replayBodyBytes`. Streams, async iterables and
 * forms are sent once. A redirect is followed within the service's endpoints; one that leaves them rejects
 * with `ERR_BOBTAIL_FOREIGN_ORIGIN`.
 *
 * An attempt counts as outstanding until the last byte of its answer has arrived or its reader has
 * cancelled it: one that is never read and does not fit in the buffers (64 KiB) counts until the deadline.
 * Throws `ERR_BOBTAIL_OPTION` for an option out of range.
 */
export function fetchTransport(options: FetchTransportOptions = {}): FetchTransport {
  checkOptionKeys(options, KEYS);
  const { allowH2, commit, tls } = options;
  checkOption({ allowH2 }, "true or false", allowH2 === undefined || typeof allowH2 === "boolean");
  checkOption(
    { commit },
    '"headers" or "first-byte"',
    commit === undefined || commit === "headers" || commit === "first-byte",
  );
  checkTlsOptions(tls);
  return { connect: (setup) => new UndiciConnections(setup, options) };
}

class UndiciConnections implements FetchConnections {
  private readonly settings: FetchSettings;
  private readonly setup: FetchSetup;
  private readonly allowH2: boolean;
  private readonly dialer: Dialer;
  private readonly byOrigin: Map<string, EndpointPool>;
  /** Those of endpoints that have left are here too, until an update finds them without a connection. */
  private readonly pools: Set<EndpointPool>;

  constructor(setup: FetchSetup, options: FetchTransportOptions) {
    const { clock, timers } = setup;
    const { timeout, retry } = setup.options;
    this.setup = setup;
    this.allowH2 = options.allowH2 ?? false;
    this.byOrigin = new Map();
    this.pools = new Set();
    this.dialer = new Dialer({
      tls: options.tls ?? {},
      allowH2: this.allowH2,
      connectMs: timeout?.connectMs ?? DEFAULT_CONNECT_MS,
      clock,
      timers,
    });
    this.settings = {
      clock,
      timers,
      bodyIdleMs: timeout?.bodyIdleMs ?? DEFAULT_BODY_IDLE_MS,
      attemptMs: timeout?.attemptMs ?? Number.POSITIVE_INFINITY,
      curable: curableOf(retry),
      commit: options.commit,
      poolOf: (origin) => this.byOrigin.get(origin),
    };
  }

  prepare(
    input: string | URL | Request,
    init: FetchInit,
    marks: FetchMarks,
  ): PreparedFetch | Promise<PreparedFetch> {
    const plan = planFetch(input, init, (origin) => this.byOrigin.has(origin));
    const request = isRequest(input) ? input : undefined;
    const prepared = (body: FetchBody): PreparedFetch => ({
      sender: new FetchSender(this.settings, { ...plan, body }, marks.noHedge),
      idempotent: plan.idempotent,
      replayable: body.replayable,
      noHedge: plan.noHedge,
      key: init.key,
      signal: init.signal === undefined ? request?.signal : init.signal,
    });
    if (init.body !== undefined || request === undefined) return prepared(bodyOf(init.body));
    const maxBytes = this.setup.options.limit?.replayBodyBytes ?? DEFAULT_REPLAY_BYTES;
    if (request.body === null && !request.bodyUsed) return prepared(bodyOf(null));
    return requestBodyOf(request, maxBytes).then(prepared);
  }

  setEndpoints(endpoints: readonly FetchEndpoint[]): void {
    const kept = new Set<EndpointPool>();
    this.byOrigin.clear();
    for (const { endpoint, url } of endpoints) {
      // A name that stays may stand for another address now.
      const known = endpoint.host as EndpointPool | undefined;
      const pool = known?.origin === url.origin ? known : this.open(url);
      pool.keepSpare(endpoint.virtual && this.setup.options.hedge !== undefined);
      endpoint.host = pool;
      kept.add(pool);
      if (!this.byOrigin.has(pool.origin)) this.byOrigin.set(pool.origin, pool);
    }
    for (const pool of this.pools) {
      if (kept.has(pool)) continue;
      pool.retire();
      if (pool.size === 0) this.pools.delete(pool);
    }
  }

  async close(): Promise<void> {
    const pools = [...this.pools];
    this.pools.clear();
    this.byOrigin.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  private open(url: URL): EndpointPool {
    const { clock, options } = this.setup;
    const pool = new EndpointPool(url, {
      dialer: this.dialer,
      clock,
      allowH2: this.allowH2,
      keepAliveMs: options.timeout?.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS,
    });
    this.pools.add(pool);
    return pool;
  }
}

/** Performs the copies of one request. */
class FetchSender implements Sender<Response> {
  private readonly settings: FetchSettings;
  private readonly plan: FetchPlan;
  private readonly noHedge: boolean;
  private readonly attempts: FetchAttempt[];

  constructor(settings: FetchSettings, plan: FetchPlan, noHedge: boolean) {
    this.settings = settings;
    this.plan = plan;
    this.noHedge = noHedge;
    this.attempts = [];
  }

  send(live: LiveAttempt, reports: AttemptReports<Response>): void {
    const attempt = new FetchAttempt(live, reports, {
      settings: this.settings,
      plan: this.plan,
      noHedge: this.noHedge,
      pool: live.endpoint.host as EndpointPool,
      avoid: live.endpoint.virtual ? this.used() : [],
    });
    this.attempts.push(attempt);
    attempt.start();
  }

  release(answer: Response): void {
    for (const attempt of this.attempts) if (attempt.holds(answer)) attempt.discard();
  }

  private used(): Connection[] {
    return this.attempts.flatMap((attempt) => attempt.used);
  }
}
