import type { ServiceOptions } from "../policies/options.ts";
import type { SimResult } from "./result.ts";
import type { Scenario, WorldOptions } from "./scenario.ts";
import { World } from "./world.ts";

/** One run of one policy: a scenario is that many of them, in any order and on any machine. */
export interface ScenarioTask {
  readonly policy: string;
  readonly run: number;
  readonly world: WorldOptions;
}

/** All runs of a scenario, policies on the same seeds. A shard of a sweep takes every n-th of them. */
export function scenarioTasks(scenario: Scenario): readonly ScenarioTask[] {
  const { name: _name, policy, policies, runs = 1, seed = 1, ...setup } = scenario;
  const byName: Readonly<Record<string, ServiceOptions>> = policies ?? { policy: policy ?? {} };
  return Object.entries(byName).flatMap(([name, options]) =>
    Array.from({ length: runs }, (_, run) => ({
      policy: name,
      run,
      world: { ...setup, policy: options, seed: seed + run },
    })),
  );
}

/** Runs one task. Its result merges with those of the same policy. */
export function runTask(task: ScenarioTask): SimResult {
  return new World(task.world).run();
}
