import type { HedgeOptions } from "bobtail";
import { showListenAddress } from "../policy-file/units.ts";
import type { ProxyConfig, RunningProxy, ServiceConfig } from "../proxy/config.ts";

/** What a running proxy does, in a few lines for its operator. */
export function describeProxy(config: ProxyConfig, proxy: RunningProxy): string {
  const lines = config.listeners.map((listener, index) => {
    const { host, port } = proxy.addresses[index] ?? listener;
    const names =
      typeof listener.service === "string"
        ? [listener.service]
        : listener.service.map((route) => route.service);
    const targets = [...new Set(names)].map((name) => describeService(name, config.services[name]));
    return `listening on http://${showListenAddress({ host, port })} for ${targets.join("; ")}`;
  });
  if (proxy.adminAddress !== undefined) {
    const address = showListenAddress(proxy.adminAddress);
    lines.push(`admin on http://${address}: /healthz /readyz /metrics /stats`);
  }
  return lines.join("\n");
}

function describeService(name: string, service: ServiceConfig | undefined): string {
  if (service === undefined) return name;
  const { options, endpoints } = service;
  const policy = options.balance?.policy ?? "two-choices";
  const load = options.balance?.load ?? "peak-ewma";
  const weighs = policy === "least" || policy === "two-choices";
  const budget = options.budget?.extraRatio ?? 0.1;
  return [
    `${name}: ${endpoints.length} endpoint${endpoints.length === 1 ? "" : "s"}`,
    weighs ? `${policy} on ${load}` : policy,
    options.hedge === undefined ? "no hedging" : `hedge ${describeDelay(options.hedge)}`,
    `budget ${Number((budget * 100).toPrecision(4))}%`,
  ].join(", ");
}

function describeDelay({ afterMs }: HedgeOptions): string {
  if (afterMs === "auto") return "auto";
  return typeof afterMs === "number"
    ? `after ${afterMs}ms`
    : `after p${Number((afterMs.quantile * 100).toPrecision(6))}`;
}
