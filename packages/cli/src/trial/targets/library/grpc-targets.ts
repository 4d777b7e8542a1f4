import type { TrialTarget } from "../target.ts";
import type { TargetTimes } from "../target-times.ts";
import { findLibrary } from "./find-library.ts";
import { libraryTarget } from "./library-target.ts";

const PACKAGE = "@grpc/grpc-js";

const find: TrialTarget["find"] = () =>
  Promise.resolve(
    findLibrary(PACKAGE) ?? {
      missing: `${PACKAGE} is not installed in ${process.cwd()}`,
      remedy: `Install it there: \`npm install ${PACKAGE}\`.`,
    },
  );

const SHARED_NOTES = [
  "Before each backend stands a gRPC bridge, in the same process: an answer of 5xx, or none, is UNAVAILABLE. A backend that refuses connections is UNAVAILABLE too, where a gRPC server that is gone would be left out by round_robin.",
];

/** The names are grpc-js's own: it reads snake_case here, and skips what it does not know. */
const OUTLIER_DETECTION = {
  interval: { seconds: 1, nanos: 0 },
  base_ejection_time: { seconds: 5, nanos: 0 },
  max_ejection_percent: 50,
  success_rate_ejection: {
    stdev_factor: 1900,
    enforcement_percentage: 100,
    minimum_hosts: 5,
    request_volume: 50,
  },
  child_policy: [{ round_robin: {} }],
};

export function grpcTargets(): readonly TrialTarget[] {
  return [
    target({
      name: "grpc-js/round-robin",
      title: "grpc-js, round_robin",
      role: "default",
      notes: [
        ...SHARED_NOTES,
        "The default of gRPC itself, pick_first, uses one backend only; round_robin is the least that balances. No retries.",
      ],
      serviceConfig: () => ({ loadBalancingConfig: [{ round_robin: {} }] }),
    }),
    target({
      name: "grpc-js/tuned",
      title: "grpc-js, round_robin with outlier detection, hedge at a fixed delay",
      role: "best",
      notes: [
        ...SHARED_NOTES,
        "Outlier detection by success rate each second, for 5 s and longer, half of the backends at most.",
        "A second copy after three times the mean service time (60 ms at 20 ms), or at once when the first is UNAVAILABLE; grpc-js does not hold hedges to its retry throttle.",
      ],
      serviceConfig: ({ hedgeDelayMs }) => ({
        loadBalancingConfig: [{ outlier_detection: OUTLIER_DETECTION }],
        retryThrottling: { maxTokens: 100, tokenRatio: 0.05 },
        methodConfig: [
          {
            name: [{}],
            hedgingPolicy: {
              maxAttempts: 2,
              hedgingDelay: `${hedgeDelayMs / 1_000}s`,
              nonFatalStatusCodes: ["UNAVAILABLE"],
            },
          },
        ],
      }),
    }),
  ];
}

interface GrpcTarget extends Pick<TrialTarget, "name" | "title" | "role" | "notes"> {
  serviceConfig(times: TargetTimes): object;
}

function target({ serviceConfig, ...words }: GrpcTarget): TrialTarget {
  return libraryTarget({
    ...words,
    family: "grpc-js",
    find,
    program: "grpc-round-robin",
    settings: (_, times) => ({
      module: findLibrary(PACKAGE)?.path ?? PACKAGE,
      serviceConfig: serviceConfig(times),
    }),
  });
}
