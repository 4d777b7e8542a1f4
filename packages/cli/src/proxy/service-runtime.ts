import type { Endpoint, LatencyClass, Service } from "bobtail/engine";
import type { CommitPoint } from "./config.ts";
import type { LegFailure, Outbound } from "./engine.ts";
import { tellsEventStream } from "./reply-head.ts";
import type { RouteMetrics, ServiceMetrics } from "./service-metrics.ts";

const DEFAULT_RETRY_ON: readonly (number | "connect-failure" | "reset")[] = [
  "connect-failure",
  "reset",
  502,
  503,
  504,
];

/** One service as the data path sees it: what a request needs to know, looked up once and not parsed again. */
export class ServiceRuntime {
  readonly name: string;
  readonly service: Service;
  readonly metrics: ServiceMetrics;
  private readonly commit: CommitPoint;
  /** Statuses that another replica may cure. */
  readonly retryStatuses: ReadonlySet<number>;
  private readonly retriesConnect: boolean;
  private readonly retriesReset: boolean;
  readonly keepBodyBytes: number;
  readonly bodyIdleMs: number;
  readonly attemptTimeoutMs: number;
  /** Copies may be sent, so the levels below must send none of their own. */
  readonly isHedging: boolean;
  /** The routes that lead here, as last configured. */
  targets: readonly RouteTarget[];

  constructor(name: string, service: Service, metrics: ServiceMetrics, commit: CommitPoint) {
    const { options } = service;
    const on = options.retry?.on ?? DEFAULT_RETRY_ON;
    this.name = name;
    this.service = service;
    this.metrics = metrics;
    this.commit = commit;
    this.retryStatuses = new Set(on.filter((item) => typeof item === "number"));
    this.retriesConnect = on.includes("connect-failure");
    this.retriesReset = on.includes("reset");
    this.keepBodyBytes = options.limit?.replayBodyBytes ?? 65_536;
    this.bodyIdleMs = options.timeout?.bodyIdleMs ?? 10_000;
    this.attemptTimeoutMs = options.timeout?.attemptMs ?? Number.POSITIVE_INFINITY;
    this.isHedging = options.hedge !== undefined && service.hedger.max > 0;
    this.targets = [];
  }

  /** Whether a reply with these headers counts as an answer only at its first byte. */
  isStream(headers: readonly Buffer[]): boolean {
    if (this.commit !== "auto") return this.commit === "first-byte";
    return tellsEventStream(headers);
  }

  /** Whether another replica may do better than one that failed like this. */
  isCurable(kind: LegFailure["kind"]): boolean {
    return kind === "connect" ? this.retriesConnect : kind === "reset" && this.retriesReset;
  }
}

/** What serves a route: the service, and the latency classes of this route's methods. */
export class RouteTarget {
  readonly route: string;
  readonly runtime: ServiceRuntime;
  readonly metrics: RouteMetrics;
  readonly classes: Map<string, LatencyClass>;

  constructor(route: string, runtime: ServiceRuntime) {
    this.route = route;
    this.runtime = runtime;
    this.metrics = runtime.metrics.route(route);
    this.classes = new Map();
  }

  /** Calls of one method on one route cost much the same. The parser knows a few dozen methods, which bounds the map. */
  classOf(method: string): LatencyClass {
    const known = this.classes.get(method);
    if (known !== undefined) return known;
    const cls = this.runtime.service.hedger.classOf(`${method} ${this.route}`);
    this.classes.set(method, cls);
    return cls;
  }
}

/** The connections of an endpoint: the driver's field of it. */
export function outboundOf(endpoint: Endpoint): Outbound {
  return endpoint.host as Outbound;
}
