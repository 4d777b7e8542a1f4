import { builtFile } from "../built-file.ts";
import { managedTarget } from "../managed-target.ts";
import { ownVersion } from "../own-version.ts";
import type { TargetPlace, TrialTarget } from "../target.ts";
import { targetTimes } from "../target-times.ts";
import { proxyConfig } from "./proxy-config.ts";

export function bobtailTargets(): readonly TrialTarget[] {
  return [
    target({
      name: "bobtail",
      title: "Bobtail's proxy, as it comes",
      role: "default",
      notes: [
        "Two choices on peak EWMA, one retry within a budget of 10 %, no hedging.",
        "At most 1,024 requests under way, 128 at one backend; 256 more wait.",
      ],
      policy: () => [],
    }),
    target({
      name: "bobtail/hedge",
      title: "Bobtail's proxy, hedging within 5 %",
      role: "best",
      notes: [
        "Two choices on peak EWMA, a second copy after a delay that Bobtail finds, one retry; both within a budget of 5 %.",
        "An answer whose body stands still for 50 mean service times is given up, and counts against its backend.",
        "At most 1,024 requests under way, 128 at one backend; 256 more wait.",
      ],
      policy: (place) => [
        "hedge: { after: auto }",
        "budget: { extra: 5% }",
        `timeout: { bodyIdle: ${targetTimes(place).tryTimeoutMs}ms }`,
      ],
    }),
    target({
      name: "bobtail/round-robin",
      title: "Bobtail's proxy, plain round robin",
      notes: [
        "No error penalty, no retry and no limit that counts: what other proxies' round robin does.",
      ],
      policy: () => [
        "balance: { policy: round-robin, errorPenalty: false }",
        "retry: { max: 0 }",
        "limit: { outstanding: 16384, perEndpoint: 8192 }",
      ],
    }),
  ];
}

interface BobtailTarget extends Pick<TrialTarget, "name" | "title" | "role" | "notes"> {
  /** Lines of the service beside its endpoints. */
  readonly policy: (place: TargetPlace) => readonly string[];
}

function target({ policy, ...words }: BobtailTarget): TrialTarget {
  return managedTarget({
    ...words,
    family: "bobtail",
    find: () => Promise.resolve({ version: ownVersion(), path: builtFile("../../main.js") }),
    configName: "bobtail.yaml",
    config: (backends, place) => proxyConfig(backends, place, policy(place)),
    launch: ({ path, configPath }) => ({
      command: process.execPath,
      args: [path, "proxy", "--config", configPath, "--grace", "1s"],
    }),
  });
}
