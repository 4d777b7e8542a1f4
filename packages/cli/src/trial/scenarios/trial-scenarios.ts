import { grayScenarios } from "./gray-scenarios.ts";
import { hardScenarios } from "./hard-scenarios.ts";
import type { TrialScenario } from "./scenario.ts";

const ORDER = [
  "healthy",
  "slow",
  "two-slow",
  "fail-fast",
  "stalls",
  "black-hole",
  "headers-then-silence",
  "flapping",
  "restart",
  "cold-join",
  "slow-key",
  "all-slow",
  "half-gone",
  "resets",
  "mixed-sizes",
];

/** All of them, in the order in which they are reported. */
export const trialScenarios: readonly TrialScenario[] = [...grayScenarios, ...hardScenarios].sort(
  (a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name),
);
