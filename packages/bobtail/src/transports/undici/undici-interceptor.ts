import type { Dispatcher } from "undici";
import { nth } from "../../core/assert.ts";
import type { Clock, Timers } from "../../core/clock.ts";
import { checkOption } from "../../core/errors.ts";
import { seededRng } from "../../core/rng.ts";
import type { ServiceOptions } from "../../policies/options.ts";
import { currentContext } from "../client/call-context.ts";
import { type ClientStats, readStats } from "../client/client-stats.ts";
import { publishDecisions } from "../client/diagnostics.ts";
import { ClientDriver } from "../client/driver.ts";
import {
  type ListedEndpoint,
  listEndpoints,
  parseOrigin,
  type UrlEndpoint,
} from "../client/endpoint-list.ts";
import { checkOptionKeys, type OptionKeys, SERVICE_KEYS } from "../client/option-keys.ts";
import type { AttemptReports, LiveAttempt, Sender } from "../client/sender.ts";
import { systemClock } from "../system-clock.ts";
import { systemTimers } from "../timer-wheel.ts";
import { type Curable, curableOf, isIdempotentMethod, marksOf } from "./fetch-answer.ts";
import { DispatchCopy } from "./undici-copy.ts";
import { headerOf, withMarks } from "./undici-headers.ts";
import { CallSink } from "./undici-sink.ts";

type Options = Dispatcher.DispatchOptions;

export interface InterceptorOptions extends ServiceOptions {
  /** The service's own name on the network, such as `http://search.internal`: requests to it are Bobtail's, others pass. */
  readonly origin: string | URL;
  /** Origins, without path or credentials. */
  readonly endpoints: readonly (string | URL | UrlEndpoint)[];
  /** In messages, stats and diagnostics; default the origin. */
  readonly name?: string | undefined;
  /** When an answer counts as begun; default the first byte for `text/event-stream`, else the headers. */
  readonly commit?: "headers" | "first-byte" | undefined;
  /** Requests of the same key share a latency history and a hedge delay; default one for all. */
  readonly key?: ((options: Options) => string | undefined) | undefined;
  /** Makes every draw repeatable; a whole number, default a random one. */
  readonly seed?: number | undefined;
  /** Default the system's; with `timers` of the same make. */
  readonly clock?: Clock | undefined;
  readonly timers?: Timers | undefined;
}

/** An undici interceptor, and the service behind it. */
export interface BobtailInterceptor extends Dispatcher.DispatchInterceptor {
  stats(): ClientStats;
  /** Replaces the set; an endpoint of the same name keeps its counts and what was learnt of it. */
  setEndpoints(endpoints: readonly (string | URL | UrlEndpoint)[]): void;
}

const KEYS: Readonly<Record<keyof InterceptorOptions, OptionKeys[string]>> = {
  ...SERVICE_KEYS,
  origin: true,
  endpoints: true,
  name: true,
  commit: true,
  key: true,
  seed: true,
  clock: true,
  timers: true,
};

const MAX_BODY_IDLE_MS = 2_147_483_647;

/**
 * `new Agent().compose(bobtailInterceptor({ origin, endpoints }))`: requests to that origin are
 * balanced, hedged and retried over the endpoints, through the agent's own connections.
 *
 * Hedged or sent again: requests that are idempotent (`options.idempotent`, else GET, HEAD and OPTIONS, else by
 * an `idempotency-key` header) and whose body is none, a string or bytes. Others are sent once, as are
 * upgrades. `connect` and `keepAlive` timeouts and the number of connections are the agent's to set: an
 * agent with a limit below `limit.perEndpoint` makes copies wait for one another. Throws `ERR_BOBTAIL_OPTION`.
 */
export function bobtailInterceptor(options: InterceptorOptions): BobtailInterceptor {
  const service = new InterceptedService(options);
  const intercept: Dispatcher.DispatchInterceptor = (dispatch) => (request, handler) => {
    if (!service.covers(request.origin)) return dispatch(request, handler);
    return service.run(dispatch, request, handler);
  };
  return Object.assign(intercept, {
    stats: () => service.stats(),
    setEndpoints: (endpoints: InterceptorOptions["endpoints"]) => service.setEndpoints(endpoints),
  });
}

class InterceptedService {
  private readonly options: InterceptorOptions;
  private readonly origin: string;
  private readonly driver: ClientDriver;
  private readonly curable: Curable;

  constructor(options: InterceptorOptions) {
    checkOptionKeys(options, KEYS);
    const { clock = systemClock, timers = systemTimers, commit, seed, key } = options;
    const isCommit = commit === undefined || commit === "headers" || commit === "first-byte";
    checkOption({ commit }, '"headers" or "first-byte"', isCommit);
    checkOption({ seed }, "a whole number", seed === undefined || Number.isInteger(seed));
    checkOption({ key }, "a function", key === undefined || typeof key === "function");
    const isPair = (options.clock === undefined) === (options.timers === undefined);
    checkOption({ timers: typeof timers }, "a clock and timers that belong together", isPair);
    this.options = options;
    this.origin = parseOrigin(options.origin, "origin").origin;
    this.curable = curableOf(options.retry);
    const { name = this.origin } = options;
    checkOption({ name }, "a name", typeof name === "string" && name !== "");
    const { balance, hedge, budget, retry, deadlineMs, timeout, limit } = options;
    const listed = listOrigins(options.endpoints);
    this.driver = new ClientDriver({
      name,
      options: { balance, hedge, budget, retry, deadlineMs, timeout, limit },
      endpoints: listed.map((e) => e.options),
      clock,
      timers,
      rng: seededRng(seed ?? Math.floor(Math.random() * 2 ** 32)),
      observer: publishDecisions(name),
    });
    this.publish(listed);
  }

  covers(origin: Options["origin"]): boolean {
    if (origin === this.origin) return true;
    if (origin === undefined || !URL.canParse(String(origin))) return false;
    return new URL(origin).origin === this.origin;
  }

  stats(): ClientStats {
    const { driver } = this;
    return readStats(driver.name, driver.service, driver.clock.nowMs());
  }

  setEndpoints(endpoints: InterceptorOptions["endpoints"]): void {
    const { service, clock } = this.driver;
    const listed = listOrigins(endpoints);
    const options = listed.map((e) => e.options);
    service.setEndpoints(options, clock.nowMs(), () => this.publish(listed));
  }

  run(
    dispatch: Dispatcher.Dispatch,
    request: Options,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const { body, method } = request;
    const once = request.upgrade || method === "CONNECT";
    const isKept = body === undefined || body === null || typeof body === "string";
    const replayable = !once && (isKept || ArrayBuffer.isView(body));
    const keyed = headerOf(request.headers, "idempotency-key") !== undefined;
    const idempotent = !once && (request.idempotent ?? (isIdempotentMethod(method) || keyed));
    const sink = new CallSink(handler);
    sink.begin();
    const sender = this.sender(dispatch, request, { sink, repeatable: replayable && idempotent });
    this.driver
      .run(sender, {
        signal: sink.signal,
        idempotent,
        replayable,
        noHedge: headerOf(request.headers, "bobtail-no-hedge") === "1",
        key: this.options.key?.(request),
      })
      .then(
        (copy) => copy.play(),
        (error: unknown) => sink.fail(error),
      );
    return true;
  }

  private sender(
    dispatch: Dispatcher.Dispatch,
    request: Options,
    { sink, repeatable }: { readonly sink: CallSink; readonly repeatable: boolean },
  ): Sender<DispatchCopy> {
    const { options, driver, curable } = this;
    const noHedge = driver.service.hedger.max > 0 || (currentContext()?.noHedge ?? false);
    const attemptMs = options.timeout?.attemptMs ?? Number.POSITIVE_INFINITY;
    const bodyIdleMs = Math.min(options.timeout?.bodyIdleMs ?? 10_000, MAX_BODY_IDLE_MS);
    return {
      send(live: LiveAttempt, reports: AttemptReports<DispatchCopy>): void {
        const marked: Options = {
          ...request,
          origin: live.endpoint.host as string,
          headers: withMarks(request.headers, marksOf(live, { noHedge, attemptMs })),
          bodyTimeout: request.bodyTimeout ?? bodyIdleMs,
        };
        new DispatchCopy(live, reports, {
          clock: driver.clock,
          timers: driver.timers,
          bodyIdleMs,
          curable,
          commit: options.commit,
          dispatch: (handler) => dispatch(marked, handler),
          repeatable,
          sink,
        }).send();
      },
      release: (copy: DispatchCopy) => copy.release(),
    };
  }

  /** An endpoint's `host` is where its copies go. */
  private publish(listed: readonly ListedEndpoint<unknown>[]): void {
    const { endpoints } = this.driver.service.balancer;
    listed.forEach(({ url }, i) => {
      nth(endpoints, i).host = url?.origin;
    });
  }
}

function listOrigins(endpoints: InterceptorOptions["endpoints"]): ListedEndpoint<unknown>[] {
  const listed = listEndpoints(endpoints);
  const isUrls = listed.every((e) => e.url !== undefined);
  checkOption({ endpoints: listed.map((e) => e.options.name) }, "origins", isUrls);
  return listed;
}
