import { hostPort } from "../host-port.ts";
import type { TargetPlace } from "../target.ts";
import { type TargetTimes, targetTimes } from "../target-times.ts";

/** What differs between Caddy's targets. */
export interface CaddyVariant {
  readonly policy: string;
  /** Lines of the reverse_proxy block on health checks and retries. */
  health(healthPath: string, times: TargetTimes): readonly string[];
  /** Lines of its transport block. */
  transport(times: TargetTimes): readonly string[];
}

export function caddyConfig(
  backends: readonly string[],
  place: TargetPlace,
  variant: CaddyVariant,
): string {
  const { port, healthPath } = place;
  const times = targetTimes(place);
  const health = variant.health(healthPath, times).map((line) => `\t\t${line}\n`);
  const transport = variant.transport(times).map((line) => `\t\t\t${line}\n`);
  return `{
	admin off
	auto_https off
	grace_period 1s
	log {
		output stderr
		level FATAL
	}
}

http://:${port} {
	bind 127.0.0.1
	reverse_proxy ${backends.map(hostPort).join(" ")} {
		lb_policy ${variant.policy}
${health.join("")}		transport http {
			keepalive_idle_conns_per_host 1024
${transport.join("")}		}
	}
}
`;
}
