import { isDeepStrictEqual } from "node:util";
import {
  type Clock,
  createService,
  type Endpoint,
  type EndpointOptions,
  type Rng,
  type Timers,
} from "bobtail/engine";
import type { ProxyConfig, ServiceConfig } from "./config.ts";
import { exchangePort } from "./exchange-port.ts";
import { ServiceMetrics } from "./service-metrics.ts";
import { ServiceRuntime } from "./service-runtime.ts";
import { type OutboundSetup, UndiciOutbound } from "./undici-outbound.ts";

export interface Means {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly rng: Rng;
}

/** The services of a proxy and the connections of their endpoints, through every reload. */
export class ServiceSet {
  runtimes: ReadonlyMap<string, ServiceRuntime>;
  private readonly means: Means;
  private readonly configs: Map<string, ServiceConfig>;
  private readonly closing: Set<UndiciOutbound>;

  constructor(means: Means) {
    this.runtimes = new Map();
    this.means = means;
    this.configs = new Map();
    this.closing = new Set();
  }

  /** Throws `ERR_BOBTAIL_OPTION`, with nothing changed, for an option out of range. */
  apply(config: ProxyConfig): void {
    const names = Object.keys(config.services);
    // Those with new options are built first: what can fail, fails before anything is swapped.
    const built = new Map<string, ServiceRuntime>();
    for (const [name, service] of Object.entries(config.services))
      if (this.isNew(name, service)) built.set(name, this.build(name, service));

    const next = new Map<string, ServiceRuntime>();
    for (const [name, service] of Object.entries(config.services)) {
      const before = this.runtimes.get(name);
      const endpointsBefore = before?.service.balancer.endpoints ?? [];
      const runtime = built.get(name) ?? (before as ServiceRuntime);
      if (runtime === before)
        runtime.service.setEndpoints(
          service.endpoints.map(endpointOptions),
          this.means.clock.nowMs(),
        );
      next.set(name, runtime);
      this.connect(runtime, service);
      this.disconnect(endpointsBefore, runtime.service.balancer.endpoints);
      const replaced = before !== undefined && before !== runtime ? before : undefined;
      const past = replaced?.service.machine.stats;
      runtime.metrics.retainEndpoints(runtime.service.balancer.endpoints, past);
      this.configs.set(name, service);
    }
    for (const [name, runtime] of this.runtimes) {
      if (names.includes(name)) continue;
      this.disconnect(runtime.service.balancer.endpoints, []);
      this.configs.delete(name);
    }
    this.runtimes = next;
  }

  async destroy(): Promise<void> {
    const outbounds = [...this.closing];
    for (const runtime of this.runtimes.values())
      for (const endpoint of runtime.service.balancer.endpoints)
        if (endpoint.host instanceof UndiciOutbound) outbounds.push(endpoint.host);
    await Promise.all(outbounds.map((outbound) => outbound.destroy()));
  }

  private isNew(name: string, service: ServiceConfig): boolean {
    const before = this.configs.get(name);
    return (
      before === undefined ||
      before.commit !== service.commit ||
      !isDeepStrictEqual(before.options, service.options)
    );
  }

  private build(name: string, config: ServiceConfig): ServiceRuntime {
    const before = this.runtimes.get(name);
    const metrics = before?.metrics ?? new ServiceMetrics(name);
    const service = createService({
      options: config.options,
      endpoints: config.endpoints.map(endpointOptions),
      port: exchangePort,
      rng: this.means.rng.split(name),
      nowMs: this.means.clock.nowMs(),
      observer: metrics,
      inherit: before?.service.balancer.endpoints,
    });
    return new ServiceRuntime(name, service, metrics, config.commit ?? "auto");
  }

  /** Every endpoint has connections that are made as the configuration says. */
  private connect(runtime: ServiceRuntime, config: ServiceConfig): void {
    for (const endpoint of runtime.service.balancer.endpoints) {
      const setup = this.setupOf(endpoint, config);
      const { host } = endpoint;
      if (host instanceof UndiciOutbound) {
        if (isDeepStrictEqual(keyOf(host.setup), keyOf(setup))) continue;
        this.retire(host);
      }
      endpoint.host = new UndiciOutbound(setup);
    }
  }

  private disconnect(before: readonly Endpoint[], after: readonly Endpoint[]): void {
    for (const endpoint of before)
      if (!after.includes(endpoint) && endpoint.host instanceof UndiciOutbound)
        this.retire(endpoint.host);
  }

  /** What runs there may end by itself. */
  private retire(outbound: UndiciOutbound): void {
    this.closing.add(outbound);
    void outbound.close().then(() => this.closing.delete(outbound));
  }

  private setupOf(endpoint: Endpoint, config: ServiceConfig): OutboundSetup {
    const { timeout, limit } = config.options;
    return {
      url: endpoint.name,
      isVirtual: endpoint.virtual,
      connectMs: timeout?.connectMs ?? 1_000,
      keepAliveMs: timeout?.keepAliveMs ?? 60_000,
      // Twice what the machine sends: as many again may still be letting go of their connection.
      maxLegs: 2 * (limit?.perEndpoint ?? 128) + 16,
      tls: config.tls,
      clock: this.means.clock,
      timers: this.means.timers,
    };
  }
}

function keyOf(setup: OutboundSetup): object {
  const { clock: _clock, timers: _timers, ...key } = setup;
  return key;
}

function endpointOptions(endpoint: ServiceConfig["endpoints"][number]): EndpointOptions {
  return { name: endpoint.url, weight: endpoint.weight, virtual: endpoint.virtual };
}
