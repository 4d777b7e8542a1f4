import type { ServiceOptions } from "bobtail";
import { failedRatio, quantileMs, shareOf } from "bobtail/sim";
import { describe, expect, test } from "vitest";
import type { ScenarioRun } from "./scenario.ts";
import { simulateScenario } from "./scenario-world.testbed.ts";
import { trialScenarios } from "./trial-scenarios.ts";
import { trialSetup } from "./trial-setup.ts";

const HEDGE: ServiceOptions = { hedge: { afterMs: "auto" }, budget: { extraRatio: 0.05 } };

/** As a plain one is: it neither looks nor limits. */
const ROUND_ROBIN: ServiceOptions = {
  balance: { policy: "round-robin", errorPenalty: false },
  retry: { max: 0 },
  limit: { outstanding: 16_384, perEndpoint: 8_192 },
};

const POLICIES: Readonly<Record<string, ServiceOptions>> = {
  "round robin": ROUND_ROBIN,
  "least, outstanding": { balance: { policy: "least", load: "outstanding" } },
  "two choices, peak-ewma, hedged": HEDGE,
  "least, peak-ewma, hedged": { ...HEDGE, balance: { policy: "least", load: "peak-ewma" } },
};

/** Resets and headers without a body have no word in the simulator; their ideal is that of the black hole. */
const SIMULATED = trialScenarios
  .map(({ name }) => name)
  .filter((name) => name !== "headers-then-silence" && name !== "resets");

/** Noise of 63,000 dependent requests. */
const NOISE = 0.05;
/** How far the best of the policies may be from it: more, and the bound says nothing. */
const LOOSE_P99 = 1.35;
const LOOSE_P999 = 2;

function runOf(name: string): ScenarioRun {
  const scenario = trialScenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
  return scenario.build(trialSetup({}, "full"));
}

describe.each(SIMULATED)("%s", (name) => {
  test("no simulated policy beats the ideal, and the best one comes near it", async () => {
    const run = runOf(name);
    const { p50Ms, p99Ms, p999Ms } = run.oracle;
    const best = { p99Ms: Number.POSITIVE_INFINITY, p999Ms: Number.POSITIVE_INFINITY };
    for (const [policyName, policy] of Object.entries(POLICIES)) {
      const result = await simulateScenario(run, policy);
      const at = (quantile: number): number => quantileMs(result, quantile);
      expect(at(0.5), `p50 of ${policyName}`).toBeGreaterThan(p50Ms * (1 - NOISE));
      // Answered requests alone look better than they are where many fail.
      const failed = failedRatio(result);
      if (failed > 0.005) continue;
      expect(at(0.99), `p99 of ${policyName}`).toBeGreaterThan(p99Ms * (1 - NOISE));
      if (failed < 0.0005)
        expect(at(0.999), `p99.9 of ${policyName}`).toBeGreaterThan(p999Ms * (1 - NOISE));
      best.p99Ms = Math.min(best.p99Ms, at(0.99));
      best.p999Ms = Math.min(best.p999Ms, at(0.999));
    }
    expect(best.p99Ms).toBeLessThan(p99Ms * LOOSE_P99);
    expect(best.p999Ms).toBeLessThan(p999Ms * LOOSE_P999);
  });
});

test("round robin before a slow backend: over a second at p99, about 7 % failures, a tenth to the slow one", async () => {
  const result = await simulateScenario(runOf("slow"), ROUND_ROBIN);
  expect(quantileMs(result, 0.99)).toBeGreaterThan(1_000);
  expect(failedRatio(result)).toBeGreaterThan(0.06);
  expect(failedRatio(result)).toBeLessThan(0.08);
  expect(shareOf(result, 0)).toBeCloseTo(0.1, 2);
});

test("what two scenarios have no simulation of, they share with the black hole", () => {
  const { p50Ms, p99Ms, p999Ms } = runOf("black-hole").oracle;
  for (const name of ["headers-then-silence", "resets"])
    expect(runOf(name).oracle).toMatchObject({ p50Ms, p99Ms, p999Ms });
});
