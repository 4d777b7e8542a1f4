import { BobtailError, seededRng, systemClock, systemTimers } from "bobtail/engine";
import { accessLine, type LineSink, refusedLine, stdoutSink } from "./access-log.ts";
import { Admin } from "./admin.ts";
import { checkConfig } from "./check-config.ts";
import type { BoundAddress, ProxyConfig, ProxyStats, RunningProxy } from "./config.ts";
import { Exchange } from "./exchange.ts";
import type { ExchangeHost } from "./exchange-host.ts";
import { type FailureReason, failureReply } from "./failure-reply.ts";
import { keysOf, Listener, type ListenerHost } from "./listener.ts";
import type { NodeInbound } from "./node-inbound.ts";
import { createTrustRule, type TrustRule } from "./peer.ts";
import { type ProxyCounts, type ProxyView, proxyMetrics, proxyStats } from "./proxy-metrics.ts";
import { ReplyWriter } from "./reply-writer.ts";
import { faultOf } from "./request-fault.ts";
import { RequestHead } from "./request-head.ts";
import { parseTarget } from "./request-target.ts";
import { compileRoutes, findRoute, type Route } from "./routes.ts";
import { RouteTarget } from "./service-runtime.ts";
import { ServiceSet } from "./service-set.ts";

/** A listener and what it currently leads to. */
interface Door {
  readonly key: string;
  readonly listener: Listener;
  readonly bound: BoundAddress;
  routes: readonly Route<RouteTarget>[];
}

/** Protocols that HTTP itself would be continued in: such a request is answered as it is. */
const IGNORED_UPGRADES: ReadonlySet<string> = new Set(["h2c", "http/2.0", "tls/1.0"]);

/** Listeners, services and the requests between them. */
export class ProxyServer implements RunningProxy, ExchangeHost {
  readonly clock: typeof systemClock = systemClock;
  readonly timers: typeof systemTimers = systemTimers;
  isDraining: boolean;
  private readonly services: ServiceSet;
  private readonly counts: ProxyCounts;
  private doors: readonly Door[];
  /** Listeners that a reload has closed, until their last connection ends. */
  private readonly leaving: Set<Listener>;
  private admin: Admin | undefined;
  private adminBound: BoundAddress | undefined;
  private isTrusted: TrustRule;
  private log: LineSink | undefined;
  private maxHeaderLines: number;
  private running: number;
  private reloading: Promise<void>;
  private closed: Promise<void> | undefined;

  constructor() {
    const nowMs = systemClock.nowMs();
    const seed = Math.floor(Math.random() * 2 ** 31);
    this.services = new ServiceSet({
      clock: systemClock,
      timers: systemTimers,
      rng: seededRng(seed),
    });
    this.counts = {
      startMs: nowMs,
      connectionsDropped: 0,
      reloadsOk: 0,
      reloadsFailed: 0,
      reloadedAtSeconds: Date.now() / 1000,
      refused: new Map(),
    };
    this.isDraining = false;
    this.doors = [];
    this.leaving = new Set();
    this.admin = undefined;
    this.adminBound = undefined;
    this.isTrusted = createTrustRule();
    this.log = undefined;
    this.maxHeaderLines = 128;
    this.running = 0;
    this.reloading = Promise.resolve();
    this.closed = undefined;
  }

  get addresses(): readonly BoundAddress[] {
    return this.doors.map((door) => door.bound);
  }

  get adminAddress(): BoundAddress | undefined {
    return this.adminBound;
  }

  async start(config: ProxyConfig): Promise<void> {
    await this.apply(config);
    if (config.admin === undefined) return;
    const proxy = this;
    this.admin = new Admin({
      get isDraining() {
        return proxy.isDraining;
      },
      metrics: () => proxyMetrics(this.view()),
      stats: () => this.stats(),
    });
    this.adminBound = await this.admin.listen(config.admin);
  }

  reload(config: ProxyConfig): Promise<void> {
    // One after the other, in the order they were asked for.
    const next = this.reloading.then(() => this.reloadNow(config));
    this.reloading = next.catch(() => {});
    return next;
  }

  private async reloadNow(config: ProxyConfig): Promise<void> {
    try {
      if (this.isDraining) {
        const what = "proxy";
        throw new BobtailError("ERR_BOBTAIL_CLOSED", "the proxy is closing", { what });
      }
      await this.apply(config);
      this.counts.reloadsOk++;
      this.counts.reloadedAtSeconds = Date.now() / 1000;
    } catch (error) {
      this.counts.reloadsFailed++;
      throw error;
    }
  }

  noteFailedReload(): void {
    this.counts.reloadsFailed++;
  }

  stats(): ProxyStats {
    return proxyStats(this.view());
  }

  async drain(graceMs: number): Promise<void> {
    this.isDraining = true;
    const ended = Promise.all(this.listeners().map((listener) => listener.stop()));
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([ended, grace]);
    clearTimeout(timer);
    await this.close();
  }

  close(): Promise<void> {
    this.closed ??= this.shutDown();
    return this.closed;
  }

  // The exchanges' side.

  ended(exchange: Exchange, nowMs: number): void {
    this.running--;
    const { call, target, writer, arrivedMs } = exchange;
    target.metrics.ended(call, writer.status, nowMs - arrivedMs);
    this.log?.(accessLine(exchange, nowMs, new Date().toISOString()));
  }

  private async shutDown(): Promise<void> {
    this.isDraining = true;
    const listeners = this.listeners();
    const ended = listeners.map((listener) => listener.stop());
    for (const listener of listeners) listener.closeConnections();
    await Promise.all([...ended, this.admin?.close()]);
    await this.services.destroy();
  }

  private listeners(): Listener[] {
    return [...this.doors.map((door) => door.listener), ...this.leaving];
  }

  /** Everything that can fail comes first; then one step swaps it all. */
  private async apply(config: ProxyConfig): Promise<void> {
    const isTrusted = createTrustRule(config.trust);
    checkConfig(config);
    const opened: Door[] = [];
    try {
      await this.openDoors(config, opened);
      this.services.apply(config);
    } catch (error) {
      await Promise.all(opened.map((door) => door.listener.stop()));
      throw error;
    }
    const before = this.doors;
    const doors = keysOf(config).map(
      (key) => before.find((d) => d.key === key) ?? opened.find((d) => d.key === key),
    ) as Door[];
    this.route(config, doors);
    this.doors = doors;
    for (const door of before) if (!doors.includes(door)) this.leave(door.listener);
    this.isTrusted = isTrusted;
    this.maxHeaderLines = config.client?.headerCount ?? 128;
    this.log = config.accessLog === "stdout" ? stdoutSink() : config.accessLog;
  }

  /** Binds the listeners that are new; each is in `opened` as soon as it is bound. */
  private async openDoors(config: ProxyConfig, opened: Door[]): Promise<void> {
    const keys = keysOf(config);
    for (const [i, address] of config.listeners.entries()) {
      const key = keys[i] as string;
      if (this.doors.some((door) => door.key === key)) continue;
      const host: ListenerHost = {
        isTrusted: (peer) => this.isTrusted(peer),
        accept: (inbound, isUpgrade) => this.accept(inbound, isUpgrade, door),
        refuse: (inbound, reason) => this.refuse(inbound, reason),
        dropped: () => {
          this.counts.connectionsDropped++;
        },
      };
      const listener = new Listener(address, config.client ?? {}, host);
      const bound = await listener.listen();
      const door: Door = { key, listener, bound, routes: [] };
      opened.push(door);
    }
  }

  private route(config: ProxyConfig, doors: readonly Door[]): void {
    const { runtimes } = this.services;
    const targets = new Map<string, RouteTarget>();
    for (const [i, door] of doors.entries()) {
      const listener = config.listeners[i];
      if (listener === undefined) continue;
      door.routes = compileRoutes(listener, (service, route) => {
        const runtime = runtimes.get(service);
        if (runtime === undefined) throw new Error(`no service is named ${service}`);
        const key = JSON.stringify([service, route]);
        const target = targets.get(key) ?? new RouteTarget(route, runtime);
        targets.set(key, target);
        return target;
      });
    }
    for (const runtime of runtimes.values()) {
      runtime.targets = [...targets.values()].filter((target) => target.runtime === runtime);
      runtime.metrics.retainRoutes(runtime.targets.map((target) => target.route));
    }
  }

  private leave(listener: Listener): void {
    this.leaving.add(listener);
    void listener.stop().then(() => this.leaving.delete(listener));
  }

  private accept(inbound: NodeInbound, isUpgrade: boolean, door: Door): void {
    if (inbound.rawHeaders.length > 2 * this.maxHeaderLines) {
      this.refuse(inbound, "header_count");
      return;
    }
    const target = parseTarget(inbound.target);
    if (target === undefined) {
      this.refuse(inbound, "request_target");
      return;
    }
    const head = new RequestHead();
    head.path = target.path;
    head.read(inbound.rawHeaders, inbound.peer, target.authority, false);
    const fault = faultOf(inbound, head, isUpgrade);
    if (fault !== undefined) {
      this.refuse(inbound, fault);
      return;
    }
    const route = findRoute(door.routes, head.host, head.path);
    if (route === undefined) {
      // Its listener is bound, and waits for the others before it gets its routes.
      this.refuse(inbound, door.routes.length === 0 ? "starting" : "no_route");
      return;
    }
    this.running++;
    const exchange = new Exchange(inbound, route.target, head, this);
    inbound.events = exchange;
    const upgrade = isUpgrade && !IGNORED_UPGRADES.has(head.upgrade) ? head.upgrade : "";
    exchange.begin(head.bodyLength, upgrade);
  }

  private refuse(inbound: NodeInbound, reason: FailureReason): void {
    const { refused } = this.counts;
    refused.set(reason, (refused.get(reason) ?? 0) + 1);
    const reply = failureReply(reason, {});
    const writer = new ReplyWriter(inbound);
    // What follows on this connection may not be what it seems.
    writer.isLast = reply.status !== 404;
    writer.reply(reply);
    const { method, target } = inbound;
    const line = { method, path: target, status: reply.status, reason };
    this.log?.(refusedLine(line, new Date().toISOString()));
  }

  private view(): ProxyView {
    return {
      services: [...this.services.runtimes.values()],
      counts: this.counts,
      connections: this.listeners().reduce((sum, listener) => sum + listener.peers.size, 0),
      running: this.running,
      isDraining: this.isDraining,
      nowMs: this.clock.nowMs(),
    };
  }
}
