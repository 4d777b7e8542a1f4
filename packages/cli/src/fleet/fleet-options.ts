import { checkOption } from "bobtail/engine";
import type { BackendCounts } from "./backend-counts.ts";
import { checkFault, type Fault } from "./fault.ts";
import { checkRequestShapes, type RequestShapes } from "./request-shape.ts";
import { checkServiceLaw, type ServiceLaw } from "./service-law.ts";

export interface BackendOptions {
  readonly law: ServiceLaw;
  /** Requests served at one time; a whole number in [1, 1,024], default 4. */
  readonly workers?: number | undefined;
  /** Where it listens, a whole number in [1, 65,535]; default a free one. */
  readonly port?: number | undefined;
  /** From the start on, and after each reset; default none. `gone`: the backend joins later, on the port that it has from the start. */
  readonly fault?: Fault | undefined;
}

export interface FleetOptions {
  /** One to 64 backends, each on a port of its own. */
  readonly backends: readonly BackendOptions[];
  /** A request that waits longer in a queue is answered 503; ms above 0, default 1,000. */
  readonly queueLimitMs?: number | undefined;
  /** Requests that may wait at one backend; a whole number >= 0, default 4,096. More are answered 503 at once. */
  readonly maxQueued?: number | undefined;
  /** A running request whose client went away frees its worker; default false, as in most servers. */
  readonly abortRunning?: boolean | undefined;
  /** Answered 200 at once, however slow the backend is; see `Fault` for those that it meets. Default `/healthz`. */
  readonly healthPath?: string | undefined;
  /** Requests that differ from others by what they ask for; default none. */
  readonly shapes?: RequestShapes | undefined;
  /** Any 32-bit whole number; default 1. The same seed gives the same service times to each backend's requests. */
  readonly seed?: number | undefined;
  /** The fleet ends by itself after this, whatever its parent does; ms above 0, default 3,600,000. */
  readonly lifetimeMs?: number | undefined;
}

export interface FleetStats {
  readonly backends: readonly BackendCounts[];
  /** How long after its moment in virtual time a reply left, p99; undefined before the first. */
  readonly replyLagP99Ms: number | undefined;
  /** User and system time that the fleet's process has used. */
  readonly cpuMs: number;
}

interface BackendSetup {
  readonly law: ServiceLaw;
  readonly workers: number;
  readonly port: number | undefined;
  readonly fault: Fault | undefined;
}

/** With every default filled in. */
export interface FleetSetup {
  readonly backends: readonly BackendSetup[];
  readonly queueLimitMs: number;
  readonly maxQueued: number;
  readonly abortRunning: boolean;
  readonly healthPath: string;
  readonly shapes: RequestShapes;
  readonly seed: number;
  readonly lifetimeMs: number;
}

/** Throws `ERR_BOBTAIL_OPTION` for the first option out of range. */
export function checkFleetOptions(options: FleetOptions): FleetSetup {
  const {
    backends,
    queueLimitMs = 1_000,
    maxQueued = 4_096,
    abortRunning = false,
    healthPath = "/healthz",
    shapes = {},
    seed = 1,
    lifetimeMs = 3_600_000,
  } = options;
  checkOption(
    { backends: backends.length },
    "1 to 64 backends",
    backends.length >= 1 && backends.length <= 64,
  );
  checkOption(
    { queueLimitMs },
    "milliseconds above 0",
    queueLimitMs > 0 && Number.isFinite(queueLimitMs),
  );
  checkOption(
    { maxQueued },
    "a whole number >= 0",
    Number.isSafeInteger(maxQueued) && maxQueued >= 0,
  );
  checkOption({ healthPath }, "a path that starts with /", healthPath.startsWith("/"));
  checkRequestShapes(shapes);
  checkOption({ seed }, "a whole number", Number.isSafeInteger(seed));
  checkOption({ lifetimeMs }, "milliseconds in (0, 2^31)", lifetimeMs > 0 && lifetimeMs < 2 ** 31);
  const filled = backends.map(({ law, workers = 4, port, fault }) => {
    checkServiceLaw(law);
    checkOption(
      { workers },
      "a whole number in [1, 1024]",
      Number.isInteger(workers) && workers >= 1 && workers <= 1024,
    );
    checkOption(
      { port },
      "a whole number in [1, 65535]",
      port === undefined || (Number.isInteger(port) && port >= 1 && port <= 65_535),
    );
    if (fault !== undefined) checkFault(fault);
    return { law, workers, port, fault };
  });
  return {
    backends: filled,
    queueLimitMs,
    maxQueued,
    abortRunning,
    healthPath,
    shapes,
    seed,
    lifetimeMs,
  };
}

/** What a fleet serves at most, in requests a second; stalls count, being work like any other. */
export function capacityPerSec(backends: readonly BackendOptions[]): number {
  return backends.reduce((sum, { law, workers = 4 }) => {
    const { meanMs, slowFactor, stall } = law;
    const stallMs = stall === undefined ? 0 : (stall.shareRatio * (stall.minMs + stall.maxMs)) / 2;
    return sum + (workers * 1_000) / (meanMs * slowFactor + stallMs);
  }, 0);
}
