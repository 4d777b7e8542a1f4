import { nth } from "../../core/assert.ts";
import { BobtailError, checkOption } from "../../core/errors.ts";
import { seededRng } from "../../core/rng.ts";
import type { Endpoint } from "../../policies/endpoint.ts";
import type { ServiceOptions } from "../../policies/options.ts";
import { systemClock } from "../system-clock.ts";
import { systemTimers } from "../timer-wheel.ts";
import { currentContext } from "./call-context.ts";
import { closedError } from "./call-failure.ts";
import {
  type ClientOptions,
  checkClientOptions,
  type SharedClientOptions,
  type TargetClientOptions,
} from "./client-options.ts";
import { type ClientStats, readStats } from "./client-stats.ts";
import { publishDecisions } from "./diagnostics.ts";
import { ClientDriver } from "./driver.ts";
import {
  type ListedEndpoint,
  listEndpoints,
  type Origin,
  type TargetEndpoint,
  type UrlEndpoint,
} from "./endpoint-list.ts";
import type {
  FetchConnections,
  FetchEndpoint,
  FetchInit,
  PreparedFetch,
} from "./fetch-transport-port.ts";
import {
  type AttemptFunction,
  type Classify,
  type FunctionCallOptions,
  FunctionSender,
} from "./function-sender.ts";

/** Calls one service. */
export interface Client<R> {
  readonly name: string;
  /** The endpoints as they are listed now, in order. */
  readonly endpoints: readonly R[];
  /**
   * Runs any function, sync or async, as a call: at one endpoint, and at another when a hedge or a retry is
   * due. It is over when the function's promise resolves; use `attempt.signal` or `attempt.onCancel` to
   * stop the work of a copy that is no longer wanted.
   *
   * Rejects with the caller's own reason, with `ERR_BOBTAIL_ALL_FAILED`, `_DEADLINE`, `_SHED`, `_NO_ENDPOINT`,
   * `_CLOSED` or `_OPTION`, or with the error that `classify` calls fatal.
   */
  call<O>(fn: AttemptFunction<R, O>, options?: FunctionCallOptions<O>): Promise<O>;
  /** A snapshot, as a plain object. */
  stats(): ClientStats;
  /**
   * Takes no more calls (`ERR_BOBTAIL_CLOSED`), waits for the running ones, each of which has a deadline,
   * then closes every connection.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A client of HTTP origins. */
export interface HttpClient extends Client<Origin> {
  /**
   * Behaves as `fetch` does, at an endpoint of the service: a path, or a URL of one of the origins.
   * Takes the options of a call beside those of `fetch`. Needs a `transport`.
   */
  fetch(input: string | URL | Request, init?: FetchInit): Promise<Response>;
  /** Replaces the set; an endpoint of the same name keeps its counts and what was learnt of it. */
  setEndpoints(endpoints: readonly (string | URL | UrlEndpoint)[]): void;
}

/** A client of the user's own targets. */
export interface TargetClient<R> extends Client<R> {
  /** Replaces the set; an endpoint of the same name keeps its counts and what was learnt of it. */
  setEndpoints(endpoints: readonly TargetEndpoint<R>[]): void;
}

/**
 * Makes the client of one service. With endpoints alone it balances by two choices on peak EWMA and hedges nothing.
 *
 * Throws `ERR_BOBTAIL_OPTION`, with name, bound and value, for an option out of range or unknown.
 */
export function createClient(options: ClientOptions): HttpClient;
export function createClient<R>(options: TargetClientOptions<R>): TargetClient<R>;
export function createClient(
  options: ClientOptions | TargetClientOptions<unknown>,
): HttpClient | TargetClient<unknown> {
  return new ServiceClient(options) as HttpClient | TargetClient<unknown>;
}

class ServiceClient {
  readonly name: string;
  private readonly driver: ClientDriver;
  private readonly classify: Classify | undefined;
  private readonly connections: FetchConnections | undefined;
  /** By endpoint, because its `host` belongs to the transport. */
  private readonly targets: Map<Endpoint, unknown>;
  private ofUrls: boolean | undefined;
  private closing: Promise<void> | undefined;

  constructor(options: ClientOptions | TargetClientOptions<unknown>) {
    checkClientOptions(options);
    const listed = listEndpoints(options.endpoints);
    const transport = "transport" in options ? options.transport : undefined;
    // An empty list tells nothing: then the first set that is given decides.
    this.ofUrls = transport === undefined ? undefined : true;
    this.checkKind(listed);
    this.name = options.name ?? "client";
    this.classify = options.classify;
    this.targets = new Map();
    this.closing = undefined;
    const { clock = systemClock, timers = systemTimers } = options;
    const policy = policyOf(options);
    this.driver = new ClientDriver({
      name: this.name,
      options: policy,
      endpoints: listed.map((e) => e.options),
      clock,
      timers,
      rng: seededRng(options.seed ?? Math.floor(Math.random() * 2 ** 32)),
      observer: publishDecisions(this.name),
    });
    this.connections = transport?.connect({ options: policy, clock, timers });
    this.publish(listed);
  }

  get endpoints(): readonly unknown[] {
    return [...this.targets.values()];
  }

  call<O>(fn: AttemptFunction<unknown, O>, options: FunctionCallOptions<O> = {}): Promise<O> {
    if (this.closing !== undefined) return Promise.reject(closedError(this.name));
    if (typeof fn !== "function")
      return Promise.reject(optionError("fn", "a function (replica, attempt) => answer", fn));
    const sender = new FunctionSender(fn, this.targets, this.classify, options.release);
    return this.driver.run(sender, options);
  }

  fetch(input: string | URL | Request, init: FetchInit = {}): Promise<Response> {
    const { connections, driver } = this;
    if (this.closing !== undefined) return Promise.reject(closedError(this.name));
    if (connections === undefined)
      return Promise.reject(
        optionError(
          "transport",
          "a transport for fetch, such as fetchTransport() of bobtail/undici",
          undefined,
        ),
      );
    const noHedge = driver.service.hedger.max > 0 || (currentContext()?.noHedge ?? false);
    let prepared: PreparedFetch | Promise<PreparedFetch>;
    try {
      prepared = connections.prepare(input, init, { noHedge });
    } catch (error) {
      return Promise.reject(error);
    }
    if (prepared instanceof Promise) return prepared.then((ready) => this.runFetch(ready, init));
    return this.runFetch(prepared, init);
  }

  stats(): ClientStats {
    return readStats(this.name, this.driver.service, this.driver.clock.nowMs());
  }

  setEndpoints(endpoints: readonly unknown[]): void {
    if (this.closing !== undefined) throw closedError(this.name);
    const listed = listEndpoints(endpoints);
    this.checkKind(listed);
    const { service, clock } = this.driver;
    const options = listed.map((e) => e.options);
    // Known before calls that wait for an endpoint are sent to the new ones.
    service.setEndpoints(options, clock.nowMs(), () => this.publish(listed));
  }

  close(): Promise<void> {
    this.closing ??= this.drain();
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async drain(): Promise<void> {
    const { driver } = this;
    await new Promise<void>((resolve) => {
      const check = (): void => {
        if (driver.machine.stats.running === 0) resolve();
      };
      driver.onSettled = check;
      check();
    });
    driver.onSettled = undefined;
    await this.connections?.close();
  }

  private runFetch(ready: PreparedFetch, init: FetchInit): Promise<Response> {
    // Closed while the body was being read.
    if (this.closing !== undefined) return Promise.reject(closedError(this.name));
    return this.driver.run(ready.sender, {
      signal: ready.signal,
      deadlineMs: init.deadlineMs,
      idempotent: ready.idempotent,
      replayable: ready.replayable,
      noHedge: ready.noHedge,
      key: ready.key,
      cost: init.cost,
    });
  }

  /** Tells the function calls and the transport which endpoints there are; the service has them already. */
  private publish(listed: readonly ListedEndpoint<unknown>[]): void {
    const { endpoints } = this.driver.service.balancer;
    this.targets.clear();
    const origins: FetchEndpoint[] = [];
    listed.forEach(({ target, url }, i) => {
      const endpoint = nth(endpoints, i);
      this.targets.set(endpoint, target);
      if (url !== undefined) origins.push({ endpoint, url });
    });
    this.connections?.setEndpoints(origins);
  }

  private checkKind(listed: readonly ListedEndpoint<unknown>[]): void {
    this.ofUrls ??= listed[0] === undefined ? undefined : listed[0].url !== undefined;
    const ok = listed.every((e) => (e.url !== undefined) === this.ofUrls);
    const expected = this.ofUrls ? "URLs, as before" : "named targets { name, target }, as before";
    checkOption({ endpoints: listed.map((e) => e.options.name) }, expected, ok);
  }
}

/** The service's part of a client's options. */
function policyOf(options: SharedClientOptions): ServiceOptions {
  const { balance, hedge, budget, retry, deadlineMs, timeout, limit } = options;
  return { balance, hedge, budget, retry, deadlineMs, timeout, limit };
}

/** The error that `checkOption` throws, for a promise to reject with. */
function optionError(option: string, expected: string, received: unknown): BobtailError {
  const message = `${option}: expected ${expected}, received ${typeof received}`;
  return new BobtailError("ERR_BOBTAIL_OPTION", message, { option, expected, received });
}
