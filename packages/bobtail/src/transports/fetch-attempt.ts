import { type Dispatcher, type RequestInit as UndiciInit, fetch as undiciFetch } from "undici";
import type { Clock, Timers } from "../core/clock.ts";
import { isBobtailError } from "../core/errors.ts";
import { FetchHop, type HopOwner, type WireHandler } from "./fetch-hop.ts";
import { type FetchPlan, foreignOrigin } from "./fetch-request.ts";
import type { AttemptReports, LiveAttempt } from "./sender.ts";
import type { Connection, EndpointPool } from "./undici-pool.ts";

/** What every attempt of a service needs to know. */
export interface FetchSettings {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly bodyIdleMs: number;
  readonly attemptMs: number;
  /** `retry.on`: statuses, `connect-failure` and `reset` that another replica may cure. */
  readonly curable: ReadonlySet<number | string>;
  /** When the answer counts as begun; `undefined`: at the first byte of an event stream, else at the headers. */
  readonly commit: "headers" | "first-byte" | undefined;
  poolOf(origin: string): EndpointPool | undefined;
}

export interface AttemptSetup {
  readonly settings: FetchSettings;
  readonly plan: FetchPlan;
  readonly noHedge: boolean;
  readonly pool: EndpointPool;
  /** Connections of the call's other copies, where this one must take another. */
  readonly avoid: readonly Connection[];
}

/**
 * One copy of a call: undici's own `fetch`, over connections that tell what happens on the wire.
 *
 * `fetch` makes the Response, follows redirects and decodes bodies; the hops below it say when the
 * answer began, when its last byte arrived, and whether anything was sent at all.
 */
export class FetchAttempt implements HopOwner {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly endpointName: string;
  readonly bodyIdleMs: number;
  readonly repeatable: boolean;
  readonly avoid: readonly Connection[];
  readonly used: Connection[];
  private readonly setup: AttemptSetup;
  private readonly live: LiveAttempt;
  private readonly signal: AbortSignal;
  private readonly reports: AttemptReports<Response>;
  private hop: FetchHop | undefined;
  private sent: boolean;
  private foreign: unknown;
  private discarded: boolean;
  /** `byte`: the headers are here, and the first byte of the body is waited for. */
  private state: "headers" | "byte" | "body" | "over";
  /** An answer that is not the caller's: not yet, or because another copy may do better. */
  private held: Response | undefined;

  constructor(live: LiveAttempt, reports: AttemptReports<Response>, setup: AttemptSetup) {
    const { settings, plan } = setup;
    this.clock = settings.clock;
    this.timers = settings.timers;
    this.endpointName = live.endpoint.name;
    this.bodyIdleMs = settings.bodyIdleMs;
    this.repeatable = plan.idempotent && plan.body.replayable;
    this.avoid = setup.avoid;
    this.used = [];
    this.setup = setup;
    this.live = live;
    this.signal = live.signal;
    this.reports = reports;
    this.hop = undefined;
    this.sent = false;
    this.foreign = undefined;
    this.discarded = false;
    this.state = "headers";
    this.held = undefined;
  }

  start(): void {
    const { plan, pool } = this.setup;
    const { body } = plan;
    const headers: [string, string][] = plan.headers.map(([name, value]) => [name, value]);
    if (body.type !== undefined && !has(headers, "content-type"))
      headers.push(["content-type", body.type]);
    const init = {
      ...plan.init,
      method: plan.method,
      headers,
      body: body.value,
      signal: this.signal,
      // `fetch` asks nothing of its dispatcher but this one method.
      dispatcher: this as unknown as Dispatcher,
      ...(body.replayable ? undefined : { duplex: "half" }),
    };
    undiciFetch(`${pool.origin}${plan.path}`, init as UndiciInit).then(
      (response) => this.answered(response as unknown as Response),
      (error: unknown) => this.refused(error),
    );
  }

  /** For `fetch`: one exchange, the first or that of a redirect. */
  dispatch(options: Dispatcher.DispatchOptions, handler: WireHandler): boolean {
    const origin = String(options.origin);
    const own = this.setup.pool;
    const pool = origin === own.origin ? own : this.setup.settings.poolOf(origin);
    if (pool === undefined) {
      const error = foreignOrigin(origin);
      this.foreign = error;
      handler.onError?.(error);
      return false;
    }
    const previous = this.hop;
    const { bytes } = this.setup.plan.body;
    const marked: Dispatcher.DispatchOptions = {
      ...options,
      headers: this.mark(options.headers as Record<string, string>),
      // Undici takes more bodies than its types name; a Blob is one of them.
      ...(options.body && bytes !== undefined ? { body: bytes as Uint8Array } : undefined),
    };
    this.hop = new FetchHop(this, pool, { options: marked, handler });
    // Nobody reads the body of a redirect, which would hold its connection.
    previous?.discard();
    return this.hop.start();
  }

  get unwanted(): boolean {
    if (this.discarded || this.hop === undefined) return true;
    return this.signal.aborted && isBobtailError(this.signal.reason, "ERR_BOBTAIL_SUPERSEDED");
  }

  hopTook(connection: Connection): void {
    this.used.push(connection);
  }

  hopSent(): void {
    this.sent = true;
  }

  hopFirstByte(): void {
    if (this.state === "byte") this.commit();
  }

  hopEnded(hop: FetchHop, error: unknown, above: boolean): void {
    if (hop !== this.hop) return;
    if (this.state === "byte") {
      if (error === undefined) this.commit();
      else {
        this.over();
        this.lost(error);
      }
    } else if (this.state === "body") {
      this.over();
      if (error === undefined || (above && !isDecodingError(error))) this.reports.finished();
      else this.reports.broke(error);
    }
  }

  holds(answer: Response): boolean {
    return this.held === answer;
  }

  /** Nobody will use this answer: its connection is kept if the rest is short. */
  discard(): void {
    this.discarded = true;
    const response = this.held;
    this.over();
    this.hop?.discard();
    response?.body?.cancel().catch(ignore);
  }

  private answered(response: Response): void {
    this.held = response;
    if (this.signal.aborted) {
      this.discard();
      return;
    }
    const { curable, commit } = this.setup.settings;
    const retryAfter = response.headers.get("retry-after");
    if (curable.has(response.status) || (response.status === 429 && retryAfter !== null)) {
      this.state = "over";
      // The call may be over when the caller gets this answer, so its deadline is kept here.
      this.hop?.watchBody(this.clock.nowMs() + this.live.remainingMs);
      this.reports.failed(new Error(`${this.endpointName}: answered ${response.status}`), {
        answer: response,
        ...(retryAfter === null ? undefined : { pushbackMs: retryAfterMs(retryAfter) }),
      });
      return;
    }
    const rule = commit ?? (isEventStream(response) ? "first-byte" : "headers");
    const started = this.hop === undefined || this.hop.ended || this.hop.bytes > 0;
    if (rule === "headers" || started || response.body === null) this.commit();
    else this.state = "byte";
  }

  private commit(): void {
    const response = this.held as Response;
    const hop = this.hop;
    const whole = hop === undefined || hop.ended;
    const isEmpty = response.body === null || response.headers.get("content-length") === "0";
    this.state = whole || isEmpty ? "over" : "body";
    if (whole && hop?.error !== undefined) {
      this.over();
      this.lost(hop.error);
    } else if (this.state === "over") {
      this.reports.replied(response);
    } else if (this.reports.committed(response)) hop?.watchBody(Number.POSITIVE_INFINITY);
    this.held = undefined;
  }

  private over(): void {
    this.state = "over";
    this.held = undefined;
  }

  /** `fetch` itself gave up: nothing was answered, or it refuses the answer. */
  private refused(error: unknown): void {
    if (this.state !== "headers") return;
    this.over();
    const { hop, foreign } = this;
    if (foreign !== undefined) this.reports.fatal(foreign);
    else if (hop?.error !== undefined && !hop.answered) this.lost(hop.error);
    else if (hop?.error !== undefined && !this.signal.aborted && !isDecodingError(hop.error))
      this.lost(hop.error);
    // No request was made of it, or `fetch` will not take the answer: any replica would say the same.
    else this.reports.fatal(error);
  }

  /** The connection could not be made, or broke before the answer. */
  private lost(error: unknown): void {
    const { curable } = this.setup.settings;
    if (!curable.has(this.sent ? "reset" : "connect-failure")) this.reports.fatal(error);
    else this.reports.failed(error, { unsent: !this.sent });
  }

  private mark(headers: Record<string, string>): Record<string, string> {
    const { live } = this;
    const { noHedge, settings } = this.setup;
    const leftMs = Math.min(live.remainingMs, settings.attemptMs);
    const marked: Record<string, string> = {
      ...headers,
      // Strictly less than what this level was given, even within one tick of the clock.
      "bobtail-deadline-ms": String(Math.max(0, Math.ceil(leftMs) - 1)),
    };
    if (live.number > 1) marked["bobtail-attempt"] = `${live.number};kind=${live.kind}`;
    if (noHedge) {
      for (const name of Object.keys(marked))
        if (name.toLowerCase() === "bobtail-no-hedge") delete marked[name];
      marked["bobtail-no-hedge"] = "1";
    }
    return marked;
  }
}

/**
 * What a `Retry-After` asks for, in ms: seconds, or a date. Negative, which is "not at all", for what is
 * neither.
 */
export function retryAfterMs(value: string, nowMs: number = Date.now()): number {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? -1 : Math.max(0, dateMs - nowMs);
}

function isEventStream(response: Response): boolean {
  return (
    response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") ?? false
  );
}

function isDecodingError(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
}

function has(headers: readonly (readonly [string, string])[], wanted: string): boolean {
  return headers.some(([name]) => name.toLowerCase() === wanted);
}

function ignore(): void {}
