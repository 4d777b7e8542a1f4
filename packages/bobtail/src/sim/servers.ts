import type { Rng } from "../core/rng.ts";
import { choreFault, type FaultState } from "./fault-plan.ts";
import { meanOf } from "./law.ts";
import type { ServerOptions, WorldSetup } from "./scenario.ts";
import { SimServer } from "./server.ts";

/** The servers of all shards, one shard after the other. */
export function createServers(setup: WorldSetup): SimServer[] {
  const replicas = replicasOf(setup);
  return Array.from({ length: setup.shards ?? 1 }, () => replicas)
    .flat()
    .map((server, i) => {
      const dynamic = setup.chores !== undefined || (server.faults ?? []).length > 0;
      return new SimServer(i, server, dynamic);
    });
}

export function createFaults(
  setup: WorldSetup,
  servers: readonly SimServer[],
  rng: Rng,
): FaultState[] {
  const replicas = replicasOf(setup);
  return servers.flatMap((server) => {
    const replica = server.index % replicas.length;
    const own = replicas[replica]?.faults ?? [];
    const { chores } = setup;
    const all =
      chores === undefined
        ? own
        : [...own, choreFault(chores, { replica, replicas: replicas.length }, rng)];
    return all.map((fault) => ({ server, fault, on: false }));
  });
}

/**
 * Root requests a second that would keep every worker busy: all that the servers of a shard can do, divided by
 * how often a root asks there. Infinity where a server has no limit.
 */
export function capacityPerSecond(setup: WorldSetup, meanSizeMs: number): number {
  const perRoot = (setup.leaves ?? 1) / (setup.shards ?? 1);
  let sum = 0;
  for (const server of replicasOf(setup)) {
    const { workers = 1, slowdown = 1, interference, interferenceRatio = 1 } = server;
    const extraMs = interference === undefined ? 0 : interferenceRatio * meanOf(interference);
    const meanMs = meanSizeMs * slowdown + extraMs;
    sum += workers === "unlimited" ? Number.POSITIVE_INFINITY : (1000 * workers) / meanMs;
  }
  return sum / perRoot;
}

/** The servers of one shard, one entry each. */
export function replicasOf(setup: WorldSetup): ServerOptions[] {
  return setup.servers.flatMap((server) => Array.from({ length: server.count ?? 1 }, () => server));
}
