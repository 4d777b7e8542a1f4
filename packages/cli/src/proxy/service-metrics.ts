import {
  type Attempt,
  type AttemptKind,
  type AttemptOutcome,
  assertNever,
  type Call,
  type CallObserver,
  type Endpoint,
  Histogram,
  type ServiceStats,
  type SkipReason,
} from "bobtail/engine";

export type CallOutcome = "ok" | "error" | "timeout" | "deadline" | "shed" | "aborted";
export type AttemptResult = "won" | "lost" | "failed" | "cancelled";

/** Where a call's deadline found it: waiting for an endpoint, or for an endpoint's answer. */
export type DeadlinePlace = "queue" | "upstream";

/** Where a call keeps its route: what drives it has one. */
interface RouteHolder {
  readonly target: { readonly metrics: RouteMetrics };
}

/** What one route has seen. */
export class RouteMetrics {
  readonly route: string;
  /** Microseconds from the request's headers to the end of the answer. */
  readonly calls: Map<CallOutcome, Histogram>;
  readonly hedges: Record<AttemptResult, number>;
  readonly suppressed: Map<SkipReason, number>;
  readonly deadlineExceeded: Record<DeadlinePlace, number>;

  constructor(route: string) {
    this.route = route;
    this.calls = new Map();
    this.hedges = { won: 0, lost: 0, failed: 0, cancelled: 0 };
    this.suppressed = new Map();
    this.deadlineExceeded = { queue: 0, upstream: 0 };
  }

  ended(call: Call, status: number, durationMs: number): void {
    record(this.calls, outcomeOf(call, status), durationMs);
    if (call.failure === "deadline")
      this.deadlineExceeded[call.launched === 0 ? "queue" : "upstream"]++;
  }
}

/** Watches one service's calls, through every reload. Memory: one small histogram for each pair of kind and result that occurs. */
export class ServiceMetrics implements CallObserver {
  readonly name: string;
  readonly attempts: Map<Endpoint, Map<string, Histogram>>;
  /** By route. */
  readonly routes: Map<string, RouteMetrics>;
  private readonly past: ServiceStats[];

  constructor(name: string) {
    this.name = name;
    this.attempts = new Map();
    this.routes = new Map();
    this.past = [];
  }

  route(name: string): RouteMetrics {
    const known = this.routes.get(name);
    if (known !== undefined) return known;
    const metrics = new RouteMetrics(name);
    this.routes.set(name, metrics);
    return metrics;
  }

  ended(a: Attempt): void {
    const result = a.outcome === undefined ? undefined : resultOf(a.outcome);
    if (result === undefined) return;
    let byKind = this.attempts.get(a.endpoint);
    if (byKind === undefined) {
      byKind = new Map();
      this.attempts.set(a.endpoint, byKind);
    }
    record(byKind, ATTEMPT_KEYS[a.kind][result], a.latencyMs);
    if (a.kind === "hedge") routeOf(a.call).hedges[result]++;
  }

  skipped(call: Call, reason: SkipReason): void {
    const { suppressed } = routeOf(call);
    suppressed.set(reason, (suppressed.get(reason) ?? 0) + 1);
  }

  /** Routes that a reload has removed are forgotten. */
  retainRoutes(routes: readonly string[]): void {
    for (const route of this.routes.keys()) if (!routes.includes(route)) this.routes.delete(route);
  }

  /** Endpoints that a reload has removed are forgotten; the counts of the machine it replaced are kept. */
  retainEndpoints(endpoints: readonly Endpoint[], past: ServiceStats | undefined): void {
    for (const endpoint of this.attempts.keys())
      if (!endpoints.includes(endpoint)) this.attempts.delete(endpoint);
    if (past === undefined) return;
    this.past.push(past);
    // Machines with nothing left to run no longer change: their counts become one.
    const over = this.past.filter((stats) => stats.running === 0);
    const [first, ...rest] = over;
    if (first === undefined || rest.length === 0) return;
    const sum = addStats(first, rest);
    this.past.splice(0, this.past.length, sum, ...this.past.filter((stats) => stats.running > 0));
  }

  total(current: ServiceStats): ServiceStats {
    return addStats(current, this.past);
  }
}

const ATTEMPT_KEYS: Readonly<Record<AttemptKind, Readonly<Record<AttemptResult, string>>>> = {
  primary: keysOf("primary"),
  hedge: keysOf("hedge"),
  retry: keysOf("retry"),
};

function keysOf(kind: AttemptKind): Record<AttemptResult, string> {
  return {
    won: `${kind} won`,
    lost: `${kind} lost`,
    failed: `${kind} failed`,
    cancelled: `${kind} cancelled`,
  };
}

function routeOf(call: Call): RouteMetrics {
  return (call.host as RouteHolder).target.metrics;
}

function record<K>(histograms: Map<K, Histogram>, key: K, durationMs: number): void {
  let histogram = histograms.get(key);
  if (histogram === undefined) {
    histogram = new Histogram({ subBucketsPerOctave: 32 });
    histograms.set(key, histogram);
  }
  histogram.record(durationMs * 1000);
}

function resultOf(outcome: AttemptOutcome): AttemptResult | undefined {
  switch (outcome) {
    case "win":
      return "won";
    case "superseded":
      return "lost";
    case "failed":
    case "fatal":
      return "failed";
    case "cancelled":
      return "cancelled";
    case "ignored":
      return undefined;
    default:
      return assertNever(outcome);
  }
}

/** A last real answer that is an error is one, though it was passed on. */
function outcomeOf(call: Call, status: number): CallOutcome {
  if (call.failure === undefined) return status >= 500 ? "error" : "ok";
  if (call.failure === "deadline" || call.failure === "shed" || call.failure === "aborted")
    return call.failure;
  return call.last?.timedOut === true ? "timeout" : "error";
}

function addStats(first: ServiceStats, rest: readonly ServiceStats[]): ServiceStats {
  const sum: ServiceStats = { ...first, skipped: { ...first.skipped } };
  for (const stats of rest) {
    for (const key of Object.keys(sum) as (keyof ServiceStats)[])
      if (key !== "skipped") sum[key] += stats[key];
    for (const reason of Object.keys(sum.skipped) as SkipReason[])
      sum.skipped[reason] += stats.skipped[reason];
  }
  return sum;
}
