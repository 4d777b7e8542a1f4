import { type Dispatcher, type RequestInit as UndiciInit, fetch as undiciFetch } from "undici";
import type { Clock, Timers } from "../../core/clock.ts";
import { isBobtailError } from "../../core/errors.ts";
import type { AttemptReports, LiveAttempt } from "../client/sender.ts";
import {
  type Curable,
  commitsAtFirstByte,
  isOfRequest,
  judgeAnswer,
  marksOf,
} from "./fetch-answer.ts";
import { FetchHop, type HopOwner, type WireHandler } from "./fetch-hop.ts";
import { type FetchPlan, foreignOrigin } from "./fetch-request.ts";
import type { Connection, EndpointPool } from "./undici-pool.ts";

/** What every attempt of a service needs to know. */
export interface FetchSettings {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly bodyIdleMs: number;
  readonly attemptMs: number;
  /** `retry.on`: statuses, `connect-failure` and `reset` that another replica may cure. */
  readonly curable: Curable;
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
    previous?.leaveBehind();
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
    const { status, headers } = response;
    const { isWin, pushbackMs } = judgeAnswer(status, headers.get("retry-after"), curable);
    if (!isWin) {
      this.state = "over";
      // The call may be over when the caller gets this answer, so its deadline is kept here.
      this.hop?.watchBody(this.clock.nowMs() + this.live.remainingMs);
      const cause = new Error(`${this.endpointName}: answered ${status}`);
      this.reports.failed(cause, { answer: response, pushbackMs });
      return;
    }
    const hasBegun = this.hop === undefined || this.hop.ended || this.hop.bytes > 0;
    if (hasBegun || response.body === null) this.commit();
    else if (!commitsAtFirstByte(commit, headers.get("content-type"))) this.commit();
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
    const isOfWire = hop?.error !== undefined && !hop.above && !isOfRequest(hop.error);
    if (foreign !== undefined) this.reports.fatal(foreign);
    else if (isOfWire) this.lost(hop.error);
    // The request cannot be made, its body broke, or `fetch` will not take the answer: the same anywhere.
    else this.reports.fatal(error);
    // A body that comes with a refused redirect would hold its connection.
    this.discard();
  }

  /** The connection could not be made, or broke before the answer. */
  private lost(error: unknown): void {
    const { curable } = this.setup.settings;
    if (!curable.has(this.sent ? "reset" : "connect-failure")) this.reports.fatal(error);
    else this.reports.failed(error, { unsent: !this.sent });
  }

  private mark(headers: Record<string, string>): Record<string, string> {
    const { plan, settings } = this.setup;
    const noHedge = this.setup.noHedge || plan.noHedge;
    return { ...headers, ...marksOf(this.live, { noHedge, attemptMs: settings.attemptMs }) };
  }
}

function isDecodingError(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
}

function has(headers: readonly (readonly [string, string])[], wanted: string): boolean {
  return headers.some(([name]) => name.toLowerCase() === wanted);
}

function ignore(): void {}
