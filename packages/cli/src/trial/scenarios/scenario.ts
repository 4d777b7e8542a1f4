import type { Fleet } from "../../fleet/fleet.ts";
import type { FleetOptions } from "../../fleet/fleet-options.ts";
import type { Oracle } from "../oracle/oracle.ts";

/** One way in which backends are sick, and what is asked of the balancer before them. */
export interface TrialScenario {
  /** As on the command line and in reports, such as `two-slow`. */
  readonly name: string;
  readonly title: string;
  /** One sentence that ends in a question mark. */
  readonly question: string;
  /** Whether a health check can see the fault, and how. */
  readonly health: string;
  /** In the set that is run by default. */
  readonly quick: boolean;
  /** Takes up to two seconds, since the oracle is computed. Throws `ERR_BOBTAIL_OPTION` for a setup out of range. */
  build(setup: TrialSetup): ScenarioRun;
}

/** What the scenarios of one trial have in common. All times but `durationMs` and `warmupMs` are multiples of `meanMs`. */
export interface TrialSetup {
  /** Mean service time of a healthy backend; ms in [1, 1,000]. */
  readonly meanMs: number;
  /** A whole number in [4, 64]. */
  readonly backends: number;
  /** Of each backend; a whole number in [1, 64]. */
  readonly workers: number;
  /** Of what the fleet can serve while it is sick; in (0, 0.95]. */
  readonly loadRatio: number;
  readonly durationMs: number;
  readonly warmupMs: number;
  /** Any 32-bit whole number. */
  readonly seed: number;
}

export interface ScenarioRun {
  readonly fleet: FleetOptions;
  readonly load: ScenarioLoad;
  /** Indices of the backends that are sick at some time; none where the fault is not a backend's. */
  readonly sick: readonly number[];
  /** In the order of their times. */
  readonly script: readonly ScriptedAct[];
  readonly oracle: Oracle;
}

/** The fields of `LoadOptions` that a scenario decides. */
export interface ScenarioLoad {
  /** Appended to the balancer's address and drawn by weight; at least one. */
  readonly paths: readonly { readonly path: string; readonly weight: number }[];
  readonly ratePerSec: number;
  readonly durationMs: number;
  readonly warmupMs: number;
  readonly timeoutMs: number;
  readonly seed: number;
}

export interface ScriptedAct {
  /** From the start of measuring, ms. */
  readonly atMs: number;
  /** Settles when the change is in force. */
  act(fleet: Fleet): Promise<void>;
}
