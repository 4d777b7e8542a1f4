import type { Oracle } from "./oracle/oracle.ts";
import type { TrialScenario } from "./scenarios/scenario.ts";
import type { TrialTarget } from "./targets/target.ts";
import type { CellFigures, TrialCell, TrialReport } from "./trial-report.ts";

const ORACLE: Oracle = {
  p50Ms: 15,
  p99Ms: 90,
  p999Ms: 140,
  failedRatio: 0,
  sickShareRatio: 0,
  extraRatio: 0.05,
  how: "simulated",
  why: "One queue before the healthy workers.",
};

export const SETUP = {
  meanMs: 20,
  backends: 10,
  workers: 4,
  loadRatio: 0.7,
  durationMs: 10_000,
  warmupMs: 4_000,
  seed: 1,
};

export function figuresWith(some: Partial<CellFigures> = {}): CellFigures {
  return {
    requests: 12_880,
    failed: 0,
    failedRatio: 0,
    p50: { ms: 16, bound: "exact" },
    p99: { ms: 95, bound: "exact" },
    p999: { ms: 150, bound: "exact" },
    successOnly: { p50Ms: 16, p99Ms: 95, p999Ms: 150 },
    provenP99Ms: 93,
    provenP999Ms: 141,
    provenFailedRatio: 0,
    sickShareRatio: 0.01,
    extraRatio: 0.03,
    sendLagP99Ms: 0.4,
    replyLagP99Ms: 1.1,
    latenessRatio: 0.055,
    cpu: { generator: 0.3, fleet: 0.2, target: undefined },
    failures: [],
    ...some,
  };
}

export function cellWith(some: Partial<TrialCell> = {}): TrialCell {
  return {
    target: "nginx/round-robin",
    scenario: "slow",
    state: "graded",
    grade: "A",
    why: "",
    figures: figuresWith(),
    factor: 1,
    isRetry: false,
    ...some,
  };
}

/** A report on these cells; targets and scenarios are those that they name. */
export function reportWith(
  cells: readonly TrialCell[],
  some: Partial<TrialReport> = {},
): TrialReport {
  const targets = [...new Set(cells.map(({ target }) => target))];
  const scenarios = [...new Set(cells.map(({ scenario }) => scenario))];
  return {
    version: "0.1.0",
    command: "bobtail trial nginx/round-robin --quick",
    setup: SETUP,
    targets: targets.map((name) => ({
      name,
      title: `title of ${name}`,
      version: "1.22.1",
      config: "upstream fleet {}\n",
      notes: [],
      warnings: [],
    })),
    scenarios: scenarios.map((name) => ({
      name,
      title: `title of ${name}`,
      question: "Does the balancer route round it?",
      health: "Nothing to see.",
      ratePerSec: 1_288,
      oracle: ORACLE,
    })),
    cells,
    plannedCells: cells.length,
    partial: false,
    ...some,
  };
}

export function fakeTarget(name: string, family: string = name.split("/")[0] ?? name): TrialTarget {
  return {
    name,
    family,
    title: `title of ${name}`,
    notes: [],
    find: () => Promise.resolve({ version: "1.0", path: `/bin/${family}` }),
    config: () => "",
    start: () => Promise.reject(new Error("a fake is not started")),
  };
}

export function fakeScenario(name: string, quick: boolean = true): TrialScenario {
  return {
    name,
    quick,
    title: `title of ${name}`,
    question: "Is it?",
    health: "Nothing to see.",
    build: (setup) => ({
      fleet: { backends: [{ law: { meanMs: setup.meanMs, slowFactor: 1 } }] },
      load: {
        paths: [{ path: "/", weight: 1 }],
        ratePerSec: 20_000 / setup.meanMs,
        durationMs: setup.durationMs,
        warmupMs: setup.warmupMs,
        timeoutMs: 150 * setup.meanMs,
        seed: setup.seed,
      },
      sick: [0],
      script: [],
      oracle: ORACLE,
    }),
  };
}
