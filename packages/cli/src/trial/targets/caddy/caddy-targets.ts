import { findProgram } from "../find-program.ts";
import { managedTarget } from "../managed-target.ts";
import type { TrialTarget } from "../target.ts";
import { type CaddyVariant, caddyConfig } from "./caddy-config.ts";

const SHARED_NOTES = [
  "1,024 idle connections are kept to each backend (Caddy's own limit is 32); the administration port and the log of failed requests are off.",
];

const DEFAULT_NOTES = [
  ...SHARED_NOTES,
  "Defaults otherwise: no health checks, active or passive, and no retries.",
];

const find = () =>
  findProgram({
    command: "caddy",
    variable: "BOBTAIL_CADDY",
    versionArgs: ["version"],
    versionPattern: /^v?(\d\S*)/,
    remedy: "Install it (Debian: `apt-get install caddy`; macOS: `brew install caddy`).",
  });

export function caddyTargets(): readonly TrialTarget[] {
  return [
    caddy("random", "random", "default"),
    caddy("round-robin", "round_robin"),
    caddy("least-conn", "least_conn"),
    caddy("random-choose-2", "random_choose 2"),
    target({
      name: "caddy/tuned",
      title: "Caddy, least_conn with health checks and one retry",
      role: "best",
      notes: [
        ...SHARED_NOTES,
        "Active checks of the health path every second, 1 s at most each.",
        "Passive checks: five failures within 5 s (5xx, no connection, or headers after 25 times the mean service time, 500 ms at 20 ms) take a backend out until they are 5 s old.",
        "Headers may take 50 times the mean (1 s at 20 ms); a request that could not be sent is tried once elsewhere.",
      ],
      variant: {
        policy: "least_conn",
        health: (healthPath, { slowAnswerMs }) => [
          "lb_retries 1",
          `health_uri ${healthPath}`,
          "health_interval 1s",
          "health_timeout 1s",
          "fail_duration 5s",
          "max_fails 5",
          "unhealthy_status 5xx",
          `unhealthy_latency ${slowAnswerMs}ms`,
        ],
        transport: ({ tryTimeoutMs }) => [
          `dial_timeout ${tryTimeoutMs}ms`,
          `response_header_timeout ${tryTimeoutMs}ms`,
        ],
      },
    }),
  ];
}

function caddy(name: string, policy: string, role?: "default"): TrialTarget {
  return target({
    name: `caddy/${name}`,
    title: `Caddy, ${policy}`,
    ...(role !== undefined && { role }),
    notes: DEFAULT_NOTES,
    variant: { policy, health: () => [], transport: () => [] },
  });
}

interface CaddyTarget extends Pick<TrialTarget, "name" | "title" | "role" | "notes"> {
  readonly variant: CaddyVariant;
}

function target({ variant, ...words }: CaddyTarget): TrialTarget {
  return managedTarget({
    ...words,
    family: "caddy",
    find,
    configName: "Caddyfile",
    config: (backends, place) => caddyConfig(backends, place, variant),
    launch: ({ path, configPath }) => ({
      command: path,
      args: ["run", "--adapter", "caddyfile", "--config", configPath],
    }),
  });
}
