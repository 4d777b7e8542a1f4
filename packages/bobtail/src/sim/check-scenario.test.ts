import fc from "fast-check";
import { expect, test } from "vitest";
import { checkScenario } from "./check-scenario.ts";
import { runTask, scenarioTasks } from "./run-scenario.ts";
import type { Scenario } from "./scenario.ts";

const GOOD: Scenario = {
  servers: [
    { workers: 4, slowdown: 5 },
    { count: 9, workers: 4 },
  ],
  size: { kind: "exponential", meanMs: 10 },
  arrivals: { kind: "poisson", load: 0.7 },
  requests: 1000,
  policies: {
    blind: { balance: { policy: "round-robin" } },
    two: { balance: { policy: "two-choices", load: "outstanding" }, hedge: { afterMs: 40 } },
  },
  runs: 2,
};

function wrong(change: Record<string, unknown>): string[] {
  const checked = checkScenario({ ...GOOD, ...change });
  return checked.ok ? [] : checked.problems.map((p) => `${p.path}: ${p.reason}; ${p.remedy}`);
}

test("a good scenario is accepted, and its runs are the policies on the same seeds", () => {
  expect(checkScenario(GOOD)).toEqual({ ok: true, scenario: GOOD });
  const tasks = scenarioTasks(GOOD);
  expect(tasks.map((t) => `${t.policy} ${t.run} ${t.world.seed}`)).toEqual([
    "blind 0 1",
    "blind 1 2",
    "two 0 1",
    "two 1 2",
  ]);
  for (const task of tasks) expect(runTask(task).callCount).toBe(900);
});

test.each([
  [{ servers: [] }, "servers: has 0 entries; give at least 1"],
  [
    { servers: [{ workers: 0 }] },
    "servers[0].workers: is 0; give a whole number of at least 1 and at most 100000, or give one of unlimited",
  ],
  [
    { servers: [{ slowdwon: 5 }] },
    "servers[0].slowdwon: is not known here; did you mean slowdown?",
  ],
  [{ servers: [{ weight: 0 }] }, "servers[0].weight: is 0; give a number above 0"],
  [{ servers: [{ weight: "2" }] }, 'servers[0].weight: is "2"; give a number above 0'],
  [{ servers: [{ virtual: 1 }] }, "servers[0].virtual: is 1; give true or false"],
  [
    { size: { kind: "gauss" } },
    'size.kind: is "gauss"; give one of constant, exponential, uniform, lognormal, pareto, empirical, mixture, stalls',
  ],
  [{ size: { kind: "exponential" } }, "size.meanMs: is missing; add meanMs"],
  [
    { size: { kind: "uniform", fromMs: 5, toMs: 1 } },
    "size.toMs: is 1, below fromMs; give at least 5",
  ],
  [
    { size: undefined },
    "size: and classes: one of them is wanted; give the law of all sizes, or classes with a law each",
  ],
  [
    { arrivals: { kind: "poisson" } },
    "arrivals: wants a rate or a load; give either ratePerSecond or load",
  ],
  [
    { arrivals: { kind: "trace", atMs: [1, 3, 2] } },
    "arrivals.atMs[2]: comes before the one ahead of it; sort the trace by time",
  ],
  [
    { requests: Number.NaN },
    "requests: is NaN; give a whole number of at least 1 and at most 1000000000",
  ],
  [
    { policies: undefined },
    "policy: and policies: one of them is wanted; give a policy, or several by name under policies",
  ],
  [
    { policies: { p: { hedge: { afterMs: -1 } } } },
    "policies.p.hedge.afterMs: is -1; give milliseconds >= 0",
  ],
  [
    { policies: { p: { balance: { policy: "magic" } } } },
    expect.stringMatching(/^policies\.p\.balance\.policy: is "magic"; give one of /),
  ],
  [
    { policies: { p: { budgets: {} } } },
    "policies.p.budgets: is not known here; did you mean budget?",
  ],
  [
    { chores: { everyMs: 5, forMs: 10, placement: "aligned" } },
    "chores.everyMs: is 5; give more than forMs, 10",
  ],
  [
    { extrasLast: true },
    "extrasLast: needs servers with two classes of urgency; give every server priorities: 2",
  ],
  [
    { classes: [{ name: "a", share: 0.5, size: GOOD.size }], size: undefined },
    "classes: have shares that sum to 0.5; make them sum to 1",
  ],
])("a mistake is told with its place, the reason and the remedy: %j", (change, expected) => {
  expect(wrong(change)).toEqual([expected]);
});

test("all mistakes are told at once", () => {
  expect(wrong({ requests: 0, clients: 0, cancel: "all" })).toHaveLength(3);
});

test("no data of any shape makes the check throw", () => {
  fc.assert(
    fc.property(
      fc.anything(),
      fc.constantFrom(...Object.keys(GOOD), "classes", "shock"),
      (value, key) => {
        const checked = checkScenario({ ...GOOD, [key]: value });
        if (!checked.ok) expect(checked.problems.length).toBeGreaterThan(0);
        expect(checkScenario(value).ok).toBe(false);
      },
    ),
    { numRuns: 500 },
  );
});
