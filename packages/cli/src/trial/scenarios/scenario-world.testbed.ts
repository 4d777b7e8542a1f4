import type { ServiceOptions } from "bobtail";
import {
  type Law,
  type ServerOptions,
  type Fault as SimFault,
  type SimResult,
  World,
  type WorldSetup,
} from "bobtail/sim";
import type { Fault } from "../../fleet/fault.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import { shapeFactor } from "../../fleet/request-shape.ts";
import type { ServiceLaw } from "../../fleet/service-law.ts";
import type { ScenarioRun } from "./scenario.ts";

/** Requests of a simulated scenario; times of its script are stretched to them. */
const REQUESTS = 70_000;
const WARM_UP_RATIO = 0.1;
const FOR_EVER_MS = 1e9;

/** The scenario as the simulator sees it: the same rate, laws and changes, as far as it has words for them. */
export async function simulateScenario(
  run: ScenarioRun,
  policy: ServiceOptions,
): Promise<SimResult> {
  const { fleet, load } = run;
  const measuredMs = (REQUESTS * (1 - WARM_UP_RATIO) * 1_000) / load.ratePerSec;
  const warmUpMs = (REQUESTS * WARM_UP_RATIO * 1_000) / load.ratePerSec;
  const law = fleet.backends[0]?.law;
  if (law === undefined) throw new Error("the scenario has no backends");
  const faults = await simFaults(run, (ms) => warmUpMs + (ms * measuredMs) / load.durationMs);
  return new World({
    servers: fleet.backends.map((backend, index): ServerOptions => {
      const { fault } = backend;
      return {
        workers: backend.workers ?? 4,
        slowdown: backend.law.slowFactor,
        queueTimeoutMs: fleet.queueLimitMs,
        failRatio: fault?.kind === "fail-fast" ? fault.shareRatio : 0,
        faults: faults[index] ?? [],
      };
    }),
    ...sizesOf(run, law),
    arrivals: { kind: "poisson", ratePerSecond: load.ratePerSec },
    requests: REQUESTS,
    warmUpRatio: WARM_UP_RATIO,
    policy,
    seed: 11,
  }).run();
}

/** Copies of one request draw anew; but the simulator would draw their kind anew as well, so where there are kinds copies are alike. */
function sizesOf({ fleet, load }: ScenarioRun, { meanMs, stall }: ServiceLaw): Partial<WorldSetup> {
  const size: Law = { kind: "exponential", meanMs };
  const total = load.paths.reduce((sum, { weight }) => sum + weight, 0);
  if (load.paths.length > 1)
    return {
      copies: "same-size",
      classes: load.paths.map(({ path, weight }) => ({
        name: path,
        share: weight / total,
        size: { ...size, meanMs: meanMs * shapeFactor(fleet.shapes ?? {}, path) },
      })),
    };
  if (stall === undefined) return { copies: "independent", size };
  const { shareRatio: share, minMs: fromMs, maxMs: toMs } = stall;
  const stalls: Law = {
    kind: "stalls",
    law: size,
    share,
    stall: { kind: "uniform", fromMs, toMs },
  };
  return { copies: "independent", size: stalls };
}

/** What the script does to each backend, found by playing it to a fleet that only takes notes. */
async function simFaults(
  run: ScenarioRun,
  atMs: (scriptMs: number) => number,
): Promise<SimFault[][]> {
  const changes = run.fleet.backends.map(({ fault }) =>
    fault === undefined ? [] : [{ ms: 0, fault: fault as Fault | undefined }],
  );
  for (const act of run.script) {
    const notes: Pick<Fleet, "control"> = {
      async control(index, fault) {
        changes[index]?.push({ ms: atMs(act.atMs), fault });
      },
    };
    await act.act(notes as Fleet);
  }
  return changes.map((list) =>
    list.flatMap(({ ms, fault }, i) => {
      const forMs = (list[i + 1]?.ms ?? FOR_EVER_MS) - ms;
      return fault === undefined ? [] : simFault(fault, ms, forMs);
    }),
  );
}

/** The nearest that the simulator has. A fault that fades is on for half of that time. */
function simFault(fault: Fault, atMs: number, forMs: number): SimFault[] {
  switch (fault.kind) {
    case "slow":
      return [
        {
          kind: "slow",
          atMs,
          forMs: fault.fades?.overMs === undefined ? forMs : fault.fades.overMs / 2,
          factor: fault.factor,
        },
      ];
    case "gone":
      return [{ kind: "crash", atMs, forMs }];
    case "restart": {
      const then = fault.then === undefined ? [] : simFault(fault.then, atMs + fault.downMs, 0);
      return [{ kind: "crash", atMs, forMs: fault.downMs }, ...then];
    }
    case "flapping": {
      if (fault.fault.kind !== "slow") throw new Error("only slowness flaps in the simulator");
      const { sickMs, healthyMs } = fault;
      const { factor } = fault.fault;
      const times = Math.floor(forMs / (sickMs + healthyMs));
      return Array.from({ length: times }, (_, i) => ({
        kind: "slow" as const,
        atMs: atMs + i * (sickMs + healthyMs),
        forMs: sickMs,
        factor,
      }));
    }
    case "silent":
      return [{ kind: "pause", atMs, forMs }];
    case "fail-fast":
      return [];
    default:
      throw new Error(`the simulator has no word for "${fault.kind}"`);
  }
}
