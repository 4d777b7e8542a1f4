import { managedTarget } from "../managed-target.ts";
import type { TrialTarget } from "../target.ts";
import { type EnvoyVariant, envoyConfig } from "./envoy-config.ts";
import {
  hedge,
  leastRequest,
  OUTLIER,
  OUTLIER_WITH_HEDGES,
  RETRY_BUDGET,
  ROUND_ROBIN,
  UNLIMITED_RETRIES,
} from "./envoy-variants.ts";
import { findEnvoy } from "./find-envoy.ts";

const SHARED_NOTES = [
  "One worker thread, so that the balancer sees all of the traffic.",
  "Circuit breakers at 8,192 connections, pending requests and requests, so that the defaults of 1,024 do not decide. A request may take 15 s.",
];

const OUTLIER_NOTE =
  "Outlier detection: five 5xx in a row, or a success rate 1.9 standard deviations below the mean over 1 s (50 requests or more), eject for 5 s and longer; half of the hosts at most (Envoy looks every 10 s by default, and ejects 10 %).";
const HEDGE_NOTE =
  "A second copy after three times the mean service time (60 ms at 20 ms, the 95th percentile of exponential times), which stays when the times change: Envoy has no percentile delay. The copy is a retry to Envoy, so one failure is retried too.";
const NO_LIMIT_NOTE = "Retries are not limited (Envoy's default is three at one time).";
const BUDGET_NOTE =
  "Retry budget: 5 % of the requests under way, but three retries at one time at least.";

export function envoyTargets(): readonly TrialTarget[] {
  return [
    target({
      name: "envoy/round-robin",
      title: "Envoy, round robin",
      role: "default",
      notes: SHARED_NOTES,
      variant: plain(ROUND_ROBIN),
    }),
    target({
      name: "envoy/least-request",
      title: "Envoy, least request of 2",
      notes: SHARED_NOTES,
      variant: plain(leastRequest(2)),
    }),
    target({
      name: "envoy/least-request-10",
      title: "Envoy, least request of 10",
      notes: [...SHARED_NOTES, "Ten draws with replacement."],
      variant: plain(leastRequest(10)),
    }),
    target({
      name: "envoy/least-request+outlier",
      title: "Envoy, least request of 2 with outlier detection",
      notes: [...SHARED_NOTES, OUTLIER_NOTE],
      variant: { ...plain(leastRequest(2)), outlier: OUTLIER },
    }),
    ...hedgingTargets(),
  ];
}

function hedgingTargets(): readonly TrialTarget[] {
  const route = hedge;
  return [
    target({
      name: "envoy/least-request+hedge",
      title: "Envoy, least request of 2, hedge at a fixed delay",
      notes: [...SHARED_NOTES, HEDGE_NOTE, NO_LIMIT_NOTE],
      variant: { ...plain(leastRequest(2)), route },
    }),
    target({
      name: "envoy/least-request+hedge-budget",
      title: "Envoy, least request of 2, hedge at a fixed delay with a retry budget",
      notes: [...SHARED_NOTES, HEDGE_NOTE, BUDGET_NOTE],
      variant: { ...plain(leastRequest(2)), route, retryLimit: RETRY_BUDGET },
    }),
    target({
      name: "envoy/tuned",
      title:
        "Envoy, least request of 10, outlier detection, hedge at a fixed delay with a retry budget",
      role: "best",
      notes: [
        ...SHARED_NOTES,
        OUTLIER_NOTE.replace("five 5xx", "twenty 5xx"),
        HEDGE_NOTE,
        BUDGET_NOTE,
      ],
      variant: {
        policy: leastRequest(10),
        outlier: OUTLIER_WITH_HEDGES,
        route,
        retryLimit: RETRY_BUDGET,
      },
    }),
  ];
}

function plain(policy: string): EnvoyVariant {
  return { policy, outlier: "", route: () => "", retryLimit: UNLIMITED_RETRIES };
}

interface EnvoyTarget extends Pick<TrialTarget, "name" | "title" | "role" | "notes"> {
  readonly variant: EnvoyVariant;
}

function target({ variant, ...words }: EnvoyTarget): TrialTarget {
  return managedTarget({
    ...words,
    family: "envoy",
    find: findEnvoy,
    configName: "envoy.yaml",
    config: (backends, place) => envoyConfig(backends, place, variant),
    launch: ({ path, configPath }) => ({
      command: path,
      args: [
        ...["--config-path", configPath],
        ...["--concurrency", "1"],
        ...["--log-level", "error"],
        // Else it makes sockets and shared memory outside its folder.
        "--disable-hot-restart",
      ],
    }),
  });
}
