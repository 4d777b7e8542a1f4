import { hostPort } from "../host-port.ts";
import type { TargetPlace } from "../target.ts";

/** What differs between Caddy's targets. */
export interface CaddyVariant {
  readonly policy: string;
  /** Lines of the reverse_proxy block on health checks and retries. */
  health(healthPath: string): readonly string[];
  /** Lines of its transport block. */
  readonly transport: readonly string[];
}

export function caddyConfig(
  backends: readonly string[],
  { port, healthPath }: TargetPlace,
  variant: CaddyVariant,
): string {
  const health = variant.health(healthPath).map((line) => `\t\t${line}\n`);
  const transport = variant.transport.map((line) => `\t\t\t${line}\n`);
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
