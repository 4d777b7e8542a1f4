import { hostPort } from "../host-port.ts";
import type { TargetPlace } from "../target.ts";
import { type TargetTimes, targetTimes } from "../target-times.ts";

/** What differs between HAProxy's targets. */
export interface HaproxyVariant {
  readonly balance: string;
  /** After `default-server`. */
  readonly server: string;
  /** Lines of the defaults section on failures and timeouts. */
  failures(times: TargetTimes): readonly string[];
}

export function haproxyConfig(
  backends: readonly string[],
  place: TargetPlace,
  variant: HaproxyVariant,
): string {
  const { port, healthPath } = place;
  const servers = backends.map((url, index) => `  server b${index} ${hostPort(url)}`).join("\n");
  const failures = variant
    .failures(targetTimes(place))
    .map((line) => `  ${line}\n`)
    .join("");
  return `global
  maxconn 4096
  nbthread 1
  noreuseport

defaults
  mode http
  timeout client 60s
${failures}
frontend front
  bind 127.0.0.1:${port}
  default_backend fleet

backend fleet
  balance ${variant.balance}
  option httpchk GET ${healthPath}
  default-server ${variant.server}
${servers}
`;
}
