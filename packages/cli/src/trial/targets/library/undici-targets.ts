import { createRequire } from "node:module";
import { versionIn } from "../own-version.ts";
import type { TrialTarget } from "../target.ts";
import { libraryTarget } from "./library-target.ts";

/** The one that the programs import, which is ours whatever the user's project has. */
const find: TrialTarget["find"] = () => {
  const require = createRequire(import.meta.url);
  const version = versionIn(require("undici/package.json")) ?? "unknown";
  return Promise.resolve({ version, path: require.resolve("undici") });
};

const CONNECTIONS_PER_BACKEND = 64;

export function undiciTargets(): readonly TrialTarget[] {
  return [
    libraryTarget({
      name: "undici/balanced-pool",
      title: "undici, BalancedPool",
      family: "undici",
      role: "default",
      notes: [
        "Defaults: as many connections as are wanted, one request each at a time, no retries.",
        "Headers may take 300 s. Connection errors lower a backend's weight; answers of 5xx do not.",
      ],
      find,
      program: "undici-balanced-pool",
      settings: () => ({}),
    }),
    libraryTarget({
      name: "undici/round-robin-pool",
      title: "undici, RoundRobinPool",
      family: "undici",
      notes: [
        `Up to ${CONNECTIONS_PER_BACKEND} connections for each backend, which take turns; each new one goes to the next backend, as for a name with several addresses.`,
        "Defaults otherwise: one request a connection at a time, no retries, headers may take 300 s.",
      ],
      find,
      program: "undici-round-robin-pool",
      settings: (backends) => ({ connections: backends.length * CONNECTIONS_PER_BACKEND }),
    }),
  ];
}
