import type { Fault } from "../../fleet/fault.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import { type BackendOptions, capacityPerSec } from "../../fleet/fleet-options.ts";
import type { RequestShapes } from "../../fleet/request-shape.ts";
import type { ServiceLaw } from "../../fleet/service-law.ts";
import { idealOracle, type OracleWords, type Regime } from "../oracle/ideal-balancer.ts";
import type { RequestKind } from "../oracle/ideal-queue.ts";
import type { ScenarioLoad, ScenarioRun, ScriptedAct, TrialSetup } from "./scenario.ts";
import { checkTrialSetup, QUEUE_LIMIT_MEANS, TIMEOUT_MEANS } from "./trial-setup.ts";

/** What one scenario decides; the rest follows from the setup. */
export interface ScenarioPlan {
  readonly backends: readonly BackendOptions[];
  /** What can serve while the fleet is at its sickest: the load is that share of it. Default all of `backends`. */
  readonly serving?: readonly BackendOptions[] | undefined;
  readonly sick: readonly number[];
  readonly script?: readonly ScriptedAct[] | undefined;
  readonly shapes?: RequestShapes | undefined;
  readonly paths?: ScenarioLoad["paths"] | undefined;
  /** Kinds of requests, as the shapes and the paths make them. */
  readonly kinds?: readonly RequestKind[] | undefined;
  /** What the ideal balancer uses: how many backends for which part of the time, all of this law. */
  readonly ideal: readonly { readonly timeRatio: number; readonly backends: number }[];
  readonly idealLaw: ServiceLaw;
  readonly words: OracleWords;
}

export function planScenario(setup: TrialSetup, plan: ScenarioPlan): ScenarioRun {
  checkTrialSetup(setup);
  const { meanMs, workers, loadRatio, durationMs, warmupMs, seed } = setup;
  const { backends, serving = backends, sick, script = [], shapes, kinds = [] } = plan;
  const perRequest = kinds.reduce((sum, k) => sum + k.shareRatio * (k.factor - 1), 1);
  const ratePerSec = (loadRatio * capacityPerSec(serving)) / perRequest;
  const regimes: Regime[] = plan.ideal.map(({ timeRatio, backends: count }) => ({
    timeRatio,
    fleet: { workers: count * workers, ratePerSec, law: plan.idealLaw, kinds },
  }));
  return {
    fleet: { backends, queueLimitMs: meanMs * QUEUE_LIMIT_MEANS, shapes, seed },
    load: {
      paths: plan.paths ?? [{ path: "/", weight: 1 }],
      ratePerSec,
      durationMs,
      warmupMs,
      timeoutMs: meanMs * TIMEOUT_MEANS,
      seed,
    },
    sick,
    script,
    oracle: idealOracle(regimes, plan.words),
  };
}

/** Backends as the setup wants them; the slow factor and the stalls of each are those of `lawOf`. */
export function backendsOf(
  setup: TrialSetup,
  lawOf: (index: number) => Partial<ServiceLaw> = () => ({}),
): BackendOptions[] {
  const { meanMs, workers } = setup;
  return Array.from({ length: setup.backends }, (_, index) => ({
    law: { meanMs, slowFactor: 1, ...lawOf(index) },
    workers,
  }));
}

/** At that share of the measured time, some backends get a fault, or heal. */
export function actAt(
  setup: TrialSetup,
  timeRatio: number,
  indices: readonly number[],
  fault: Fault | undefined,
): ScriptedAct {
  return {
    atMs: setup.durationMs * timeRatio,
    async act(fleet: Fleet) {
      await Promise.all(indices.map((index) => fleet.control(index, fault)));
    },
  };
}
