import type { TargetPlace } from "../target.ts";
import { type TargetTimes, targetTimes } from "../target-times.ts";

/** What differs between Envoy's targets: pieces of YAML, indented as if they stood alone. */
export interface EnvoyVariant {
  /** Of the cluster: the balancing policy. */
  readonly policy: string;
  /** Of the cluster: outlier detection; "" for none. */
  readonly outlier: string;
  /** Of the route: retries and hedging; "" for none. */
  route(times: TargetTimes): string;
  /** Of the cluster's only circuit breaker threshold: what bounds retries and hedges. */
  readonly retryLimit: string;
}

export function envoyConfig(
  backends: readonly string[],
  place: TargetPlace,
  variant: EnvoyVariant,
): string {
  const { policy, outlier, retryLimit } = variant;
  const route = variant.route(targetTimes(place));
  const endpoints = backends.map((url) => {
    const { hostname, port: backendPort } = new URL(url);
    return `        - endpoint: { address: { socket_address: { address: ${hostname}, port_value: ${backendPort} } } }`;
  });
  return `static_resources:
  listeners:
  - name: front
    address: { socket_address: { address: 127.0.0.1, port_value: ${place.port} } }
    enable_reuse_port: false
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: front
          route_config:
            virtual_hosts:
            - name: fleet
              domains: ["*"]
              routes:
              - match: { prefix: / }
                route:
                  cluster: fleet
                  timeout: 15s
${indent(route, 18)}          http_filters:
          - name: envoy.filters.http.router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
  - name: fleet
    type: STATIC
    connect_timeout: 5s
${indent(policy, 4)}${indent(outlier, 4)}    circuit_breakers:
      thresholds:
      - max_connections: 8192
        max_pending_requests: 8192
        max_requests: 8192
${indent(retryLimit, 8)}    load_assignment:
      cluster_name: fleet
      endpoints:
      - lb_endpoints:
${endpoints.join("\n")}
`;
}

function indent(block: string, spaces: number): string {
  if (block === "") return "";
  return `${block.trim().replaceAll(/^(?=.)/gm, " ".repeat(spaces))}\n`;
}
