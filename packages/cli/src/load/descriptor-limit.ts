import { readFileSync } from "node:fs";
import { CommandFailure } from "../terminal/failure.ts";
import type { LoadOptions } from "./load-options.ts";
import type { LoadPlan } from "./load-plan.ts";

/** Descriptors that a process has open beside its connections. */
const RESERVE = 128;

/** How many files this process may have open at once; undefined where the system does not say (it says on Linux). */
export function descriptorLimit(): number | undefined {
  try {
    const text = readFileSync("/proc/self/limits", "utf8");
    const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/**
 * A plan whose connections fit into the limit. Throws a {@link CommandFailure} where more were asked for by name; a
 * default is lowered, so that requests wait for a connection and the report says so.
 */
export function fitDescriptors(
  plan: LoadPlan,
  options: Pick<LoadOptions, "connections" | "maxInFlight">,
  limit: number | undefined,
): LoadPlan {
  const hosts = new Set(plan.targets.map(({ origin }) => origin)).size;
  const most = limit === undefined ? Number.POSITIVE_INFINITY : (limit - RESERVE) / hosts;
  if (plan.connections <= most) return plan;
  const asked = options.connections ?? options.maxInFlight;
  const connections = Math.floor(most);
  if (asked !== undefined || connections < plan.workers)
    throw new CommandFailure(
      `${plan.connections * hosts} connections do not fit: this process may have ${limit} files open`,
      `Raise the limit (\`ulimit -n ${plan.connections * hosts + RESERVE}\`), or allow fewer connections.`,
    );
  return { ...plan, connections };
}
