import { findProgram } from "../find-program.ts";
import { managedTarget } from "../managed-target.ts";
import type { TrialTarget } from "../target.ts";
import { type NginxVariant, nginxConfig } from "./nginx-config.ts";

const DEFAULT_SERVER = "max_fails=1 fail_timeout=10s";

/** What nginx does when nothing is said, written out. */
const DEFAULT_FAILURES = [
  "proxy_next_upstream error timeout;",
  "proxy_connect_timeout 60s;",
  "proxy_read_timeout 60s;",
];

const SHARED_NOTES = [
  "One worker, so that the balancer sees all of the traffic.",
  "8,192 connections and 1,024 idle ones to the backends; responses are never written to a file.",
  "No active health checks: they are part of the commercial nginx.",
];

const DEFAULT_NOTES = [
  ...SHARED_NOTES,
  "Defaults on failures: a connection error or a timeout of 60 s goes to the next server and rests the server for 10 s; an answer of 5xx is passed on.",
];

const find = () =>
  findProgram({
    command: "nginx",
    variable: "BOBTAIL_NGINX",
    versionArgs: ["-v"],
    versionPattern: /nginx\/(\S+)/,
    remedy: "Install it (Debian: `apt-get install nginx`; macOS: `brew install nginx`).",
  });

export function nginxTargets(): readonly TrialTarget[] {
  return [
    nginx("round-robin", "nginx, round robin", "", "default"),
    nginx("least-conn", "nginx, least_conn", "least_conn;"),
    nginx("random-two", "nginx, random two least_conn", "random two least_conn;"),
    target({
      name: "nginx/tuned",
      title: "nginx, least_conn with failures and timeouts tuned",
      role: "best",
      notes: [
        ...SHARED_NOTES,
        "A try may take 50 times the mean service time (1 s at 20 ms); errors, timeouts and 500, 502, 503, 504 go to one other server; five of them in 5 s rest a server for 5 s.",
        "Since 1.31 nginx has `least_time`, which weighs latency; it is not used here.",
      ],
      variant: {
        method: "least_conn;",
        server: "max_fails=5 fail_timeout=5s",
        failures: ({ tryTimeoutMs }) => [
          "proxy_next_upstream error timeout http_500 http_502 http_503 http_504;",
          "proxy_next_upstream_tries 2;",
          `proxy_connect_timeout ${tryTimeoutMs}ms;`,
          `proxy_read_timeout ${tryTimeoutMs}ms;`,
        ],
      },
    }),
  ];
}

function nginx(name: string, title: string, method: string, role?: "default"): TrialTarget {
  return target({
    name: `nginx/${name}`,
    title,
    ...(role !== undefined && { role }),
    notes: DEFAULT_NOTES,
    variant: { method, server: DEFAULT_SERVER, failures: () => DEFAULT_FAILURES },
  });
}

interface NginxTarget extends Pick<TrialTarget, "name" | "title" | "role" | "notes"> {
  readonly variant: NginxVariant;
}

function target({ variant, ...words }: NginxTarget): TrialTarget {
  return managedTarget({
    ...words,
    family: "nginx",
    find,
    configName: "nginx.conf",
    config: (backends, place) => nginxConfig(backends, place, variant),
    // Without -e it would first try to open the log file that it was built for.
    launch: ({ path, configPath, folder }) => ({
      command: path,
      args: ["-p", folder, "-e", "stderr", "-c", configPath],
    }),
  });
}
