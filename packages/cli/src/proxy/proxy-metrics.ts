import type { ServiceStats } from "bobtail/engine";
import type { ProxyStats, ServiceReport } from "./config.ts";
import { PrometheusText } from "./prometheus-text.ts";
import type { ServiceRuntime } from "./service-runtime.ts";

/** Counts that belong to the proxy as a whole. */
export interface ProxyCounts {
  startMs: number;
  connectionsDropped: number;
  reloadsOk: number;
  reloadsFailed: number;
  /** Seconds since 1970 of the configuration in force. */
  reloadedAtSeconds: number;
  /** Requests refused before they had a service, by reason. */
  refused: Map<string, number>;
}

/** What there is to report at this moment. */
export interface ProxyView {
  readonly services: readonly ServiceRuntime[];
  readonly counts: ProxyCounts;
  readonly connections: number;
  readonly running: number;
  readonly isDraining: boolean;
  readonly nowMs: number;
}

export function proxyStats(view: ProxyView): ProxyStats {
  const { counts, services, nowMs } = view;
  return {
    schema: "bobtail.proxy.stats/1",
    uptime_ms: Math.round(nowMs - counts.startMs),
    draining: view.isDraining,
    connections: view.connections,
    running: view.running,
    reloads: { ok: counts.reloadsOk, failed: counts.reloadsFailed },
    services: Object.fromEntries(services.map((s) => [s.name, serviceReport(s, nowMs)])),
  };
}

function serviceReport(runtime: ServiceRuntime, nowMs: number): ServiceReport {
  const { service } = runtime;
  const stats = runtime.metrics.total(service.machine.stats);
  return {
    calls: stats.calls,
    succeeded: stats.succeeded,
    failed: stats.failed,
    aborted: stats.aborted,
    shed: stats.shed,
    deadline_exceeded: stats.deadlineExceeded,
    running: stats.running,
    pending: stats.pending,
    attempts: stats.attempts,
    hedges: stats.hedges,
    hedges_won: stats.hedgesWon,
    retries: stats.retries,
    retries_won: stats.retriesWon,
    replaced: stats.replaced,
    skipped: { ...stats.skipped },
    budget_tokens: service.budget.balanceAt(nowMs),
    budget_capacity: service.budget.capacityCount,
    endpoints: service.balancer.endpoints.map((e) => ({
      name: e.name,
      outstanding: e.outstanding,
      waiting: e.waiting,
      picks: e.picks,
      wins: e.wins,
      failures: e.failures,
      superseded: e.superseded,
      wasted_ms: e.wastedMs,
      weight: e.weight,
      latency_ewma_ms: e.latencyMs < 0 ? null : e.latencyMs,
      error_share_ratio: e.errorShareRatio,
    })),
  };
}

/** Everything in Prometheus text. Labels come from the configuration and from fixed lists, never from a request. */
export function proxyMetrics(view: ProxyView): string {
  const text = new PrometheusText();
  writeCalls(text, view);
  writeHedges(text, view);
  writeBudgets(text, view);
  writeBackends(text, view);
  writeProxy(text, view);
  return text.toString();
}

function writeCalls(text: PrometheusText, { services }: ProxyView): void {
  text.family(
    "bobtail_call_duration_seconds",
    "histogram",
    "From the request's headers to the end of its answer.",
  );
  for (const { metrics } of services)
    for (const { route, calls } of metrics.routes.values())
      for (const [outcome, values] of calls) text.histogram({ route, outcome }, values);
  text.family(
    "bobtail_attempt_duration_seconds",
    "histogram",
    "From an attempt's launch to its answer, or to its end without one.",
  );
  for (const { name, metrics } of services)
    for (const [{ name: backend }, byKind] of metrics.attempts)
      for (const [key, values] of byKind) {
        const [kind = "", result = ""] = key.split(" ");
        text.histogram({ service: name, backend, kind, result }, values);
      }
  text.family("bobtail_deadline_exceeded_total", "counter", "Calls that met their deadline.");
  for (const { metrics } of services)
    for (const { route, deadlineExceeded } of metrics.routes.values())
      for (const [where, count] of Object.entries(deadlineExceeded))
        text.sample({ route, where }, count);
  text.family("bobtail_calls_running", "gauge", "Calls not over yet.");
  for (const s of services) text.sample({ service: s.name }, totalOf(s).running);
  text.family("bobtail_calls_pending", "gauge", "Calls that wait for a free endpoint.");
  for (const s of services) text.sample({ service: s.name }, totalOf(s).pending);
}

function writeHedges(text: PrometheusText, { services }: ProxyView): void {
  text.family("bobtail_hedges_total", "counter", "Hedges by how they ended.");
  for (const { metrics } of services)
    for (const { route, hedges } of metrics.routes.values())
      for (const [result, count] of Object.entries(hedges)) text.sample({ route, result }, count);
  text.family(
    "bobtail_hedges_suppressed_total",
    "counter",
    "Further copies that were wanted and not sent.",
  );
  for (const { metrics } of services)
    for (const { route, suppressed } of metrics.routes.values())
      for (const [reason, count] of suppressed)
        text.sample({ route, reason: SUPPRESSED[reason] ?? reason }, count);
  text.family(
    "bobtail_hedge_delay_seconds",
    "gauge",
    "How long an answer is waited for before a hedge; +Inf: no hedge.",
  );
  for (const { targets } of services)
    for (const { route, classes } of targets)
      for (const [method, cls] of classes) text.sample({ route, method }, cls.delayMs / 1000);
}

/** The label's word where it differs from ours. */
const SUPPRESSED: Readonly<Record<string, string>> = { pushback: "retry_after" };

function writeBudgets(text: PrometheusText, { services, nowMs }: ProxyView): void {
  text.family("bobtail_budget_tokens", "gauge", "Further copies that could be sent now.");
  for (const { name, service } of services)
    text.sample({ service: name }, service.budget.balanceAt(nowMs));
  text.family("bobtail_budget_capacity", "gauge", "Further copies that can be saved up.");
  for (const { name, service } of services)
    text.sample({ service: name }, service.budget.capacityCount);
  text.family("bobtail_budget_denied_total", "counter", "Further copies the budget refused.");
  for (const s of services) text.sample({ service: s.name }, totalOf(s).skipped.budget);
}

function writeBackends(text: PrometheusText, { services }: ProxyView): void {
  const each = (name: string, type: "counter" | "gauge", help: string, read: BackendReader) => {
    text.family(name, type, help);
    for (const { name: service, service: running } of services)
      for (const e of running.balancer.endpoints) {
        const value = read(e);
        if (value !== undefined) text.sample({ service, backend: e.name }, value);
      }
  };
  each("bobtail_backend_inflight", "gauge", "Attempts not ended yet.", (e) => e.outstanding);
  each(
    "bobtail_backend_weight",
    "gauge",
    "Share of traffic relative to the others.",
    (e) => e.weight,
  );
  each(
    "bobtail_backend_latency_ewma_seconds",
    "gauge",
    "Peak EWMA of the time to the answer.",
    (e) => (e.latencyMs < 0 ? undefined : e.latencyMs / 1000),
  );
  each("bobtail_backend_error_ratio", "gauge", "EWMA of failures.", (e) => e.errorShareRatio);
  each(
    "bobtail_wasted_attempt_seconds_total",
    "counter",
    "Time of attempts whose answer nobody used.",
    (e) => e.wastedMs / 1000,
  );
  text.family("bobtail_picks_total", "counter", "Attempts by the endpoint they were sent to.");
  for (const { name, service } of services)
    for (const e of service.balancer.endpoints) {
      const policy = service.options.balance?.policy ?? "two-choices";
      text.sample({ service: name, backend: e.name, policy, reason: "chosen" }, e.picks);
    }
  text.family(
    "bobtail_balance_skew_ratio",
    "gauge",
    "The greatest share of picks over the share its weight asks for, since the endpoints were first seen.",
  );
  for (const s of services) text.sample({ service: s.name }, skewRatio(s));
}

type BackendReader = (
  e: ServiceRuntime["service"]["balancer"]["endpoints"][number],
) => number | undefined;

function skewRatio({ service }: ServiceRuntime): number {
  const { endpoints } = service.balancer;
  const picks = endpoints.reduce((sum, e) => sum + e.picks, 0);
  const weights = endpoints.reduce((sum, e) => sum + e.weight, 0);
  if (picks === 0) return 1;
  return Math.max(...endpoints.map((e) => e.picks / picks / (e.weight / weights)));
}

function writeProxy(text: PrometheusText, { counts, connections, running }: ProxyView): void {
  text.family("bobtail_config_reloads_total", "counter", "Reloads by result.");
  text.sample({ result: "ok" }, counts.reloadsOk);
  text.sample({ result: "failed" }, counts.reloadsFailed);
  text.family(
    "bobtail_config_last_reload_success_timestamp_seconds",
    "gauge",
    "When the configuration in force was taken.",
  );
  text.sample({}, counts.reloadedAtSeconds);
  text.family("bobtail_connections", "gauge", "Open connections of clients.");
  text.sample({}, connections);
  text.family(
    "bobtail_connections_dropped_total",
    "counter",
    "Refused because there were too many.",
  );
  text.sample({}, counts.connectionsDropped);
  text.family("bobtail_requests_running", "gauge", "Requests being served, tunnels included.");
  text.sample({}, running);
  text.family("bobtail_requests_refused_total", "counter", "Refused before they had a service.");
  for (const [reason, count] of counts.refused) text.sample({ reason }, count);
}

function totalOf(runtime: ServiceRuntime): ServiceStats {
  return runtime.metrics.total(runtime.service.machine.stats);
}
