import type { Problem, Scenario } from "bobtail/sim";

/** Servers of all shards, and what each client knows of each of them: more does not fit into memory. */
const MAX_SERVERS = 100_000;
const MAX_VIEWS = 5_000_000;

/** Fields that are each in range may multiply to a world that no machine holds. */
export function sizeProblems(
  scenario: Pick<Scenario, "servers" | "shards" | "clients">,
): Problem[] {
  const { servers, shards = 1, clients = 1 } = scenario;
  const count = shards * servers.reduce((sum, server) => sum + (server.count ?? 1), 0);
  if (count > MAX_SERVERS)
    return [
      {
        path: "servers",
        reason: `are ${count} in all shards`,
        remedy: `give at most ${MAX_SERVERS}`,
      },
    ];
  return count * clients > MAX_VIEWS
    ? [
        {
          path: "clients",
          reason: `are ${clients}, each with a view of ${count} servers`,
          remedy: `give at most ${Math.floor(MAX_VIEWS / count)} for so many servers`,
        },
      ]
    : [];
}
