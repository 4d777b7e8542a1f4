import { findProgram } from "../find-program.ts";
import { managedTarget } from "../managed-target.ts";
import type { TrialTarget } from "../target.ts";
import { type HaproxyVariant, haproxyConfig } from "./haproxy-config.ts";

/** What HAProxy does when only checks are asked for, written out; the three timeouts are its manual's example. */
const DEFAULT_FAILURES = [
  "timeout connect 5s",
  "timeout server 50s",
  "timeout queue 5s",
  "retries 3",
  "retry-on conn-failure",
];

const DEFAULT_NOTES = [
  "One thread, so that the balancer sees all of the traffic; 4,096 connections.",
  "Active checks of the health path every 2 s; three failures take a server out, two successes bring it back.",
  "No maxconn on the servers: nothing queues in HAProxy. An answer may take 50 s.",
  "Three retries, only when a connection cannot be made; the last one goes to another server.",
];

const find = () =>
  findProgram({
    command: "haproxy",
    variable: "BOBTAIL_HAPROXY",
    versionArgs: ["-v"],
    versionPattern: /version (\S+)/,
    remedy: "Install it (Debian: `apt-get install haproxy`; macOS: `brew install haproxy`).",
  });

export function haproxyTargets(): readonly TrialTarget[] {
  return [
    haproxy("roundrobin", "roundrobin", "default"),
    haproxy("leastconn", "leastconn"),
    haproxy("random-2", "random(2)"),
    target({
      name: "haproxy/tuned",
      title: "HAProxy, leastconn with queues, retries and observed errors",
      role: "best",
      notes: [
        "One thread, so that the balancer sees all of the traffic; 4,096 connections.",
        "At most 8 requests at a server; more wait in HAProxy for the first free place, as long as a try may take.",
        "A try may take 50 times the mean service time (1 s at 20 ms); connection errors, empty answers, timeouts and 500, 502, 503, 504 go to one other server.",
        "Checks every second; ten errors in a row take a server out until two checks succeed.",
      ],
      variant: {
        balance: "leastconn",
        server:
          "check inter 1s fall 2 rise 2 maxconn 8 observe layer7 error-limit 10 on-error mark-down",
        failures: ({ tryTimeoutMs }) => [
          `timeout connect ${tryTimeoutMs}ms`,
          `timeout server ${tryTimeoutMs}ms`,
          `timeout queue ${tryTimeoutMs}ms`,
          "retries 1",
          "option redispatch 1",
          "retry-on conn-failure empty-response response-timeout 500 502 503 504",
        ],
      },
    }),
  ];
}

function haproxy(name: string, balance: string, role?: "default"): TrialTarget {
  return target({
    name: `haproxy/${name}`,
    title: `HAProxy, ${balance}`,
    ...(role !== undefined && { role }),
    notes: DEFAULT_NOTES,
    variant: { balance, server: "check inter 2s fall 3 rise 2", failures: () => DEFAULT_FAILURES },
  });
}

interface HaproxyTarget extends Pick<TrialTarget, "name" | "title" | "role" | "notes"> {
  readonly variant: HaproxyVariant;
}

function target({ variant, ...words }: HaproxyTarget): TrialTarget {
  return managedTarget({
    ...words,
    family: "haproxy",
    find,
    configName: "haproxy.cfg",
    config: (backends, place) => haproxyConfig(backends, place, variant),
    launch: ({ path, configPath }) => ({ command: path, args: ["-db", "-f", configPath] }),
  });
}
