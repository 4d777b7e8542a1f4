import { arithmeticScenarios } from "./arithmetic.ts";
import { backgroundScenarios } from "./background.ts";
import { balancingScenarios } from "./balancing.ts";
import { fanOutScenarios } from "./fan-out.ts";
import { feedbackScenarios } from "./feedback.ts";
import { goldenScenarios } from "./golden.ts";
import { queueingScenarios } from "./queueing.ts";
import type { BuiltInScenario } from "./scenario-table.ts";
import { singleServer } from "./single-server.ts";

/** Every table and exercise of the sources, by name. */
export const scenarios: readonly BuiltInScenario[] = [
  ...balancingScenarios,
  ...fanOutScenarios,
  singleServer,
  ...arithmeticScenarios,
  ...queueingScenarios,
  ...feedbackScenarios,
  ...backgroundScenarios,
  ...goldenScenarios,
];

export function scenarioNamed(name: string): BuiltInScenario | undefined {
  return scenarios.find((scenario) => scenario.name === name);
}
