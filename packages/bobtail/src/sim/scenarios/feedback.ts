import type { ServiceOptions } from "../../policies/options.ts";
import type { Law } from "../law.ts";
import type { WorldOptions } from "../scenario.ts";
import { criticalHedgeLoad } from "../theory.ts";
import { hedge, plain, unguardedHedge } from "./policies.ts";
import { theoryWorld, UNIT_MS } from "./queueing.ts";
import {
  BUSY,
  BUSY_COLUMN,
  type BuiltInScenario,
  EXTRA,
  EXTRA_COLUMN,
  FAILED,
  FAILED_COLUMN,
  LATENCIES,
  LATENCY_COLUMNS,
  runWorlds,
  type WorldRow,
} from "./scenario-table.ts";

type World = Omit<WorldOptions, "seed" | "policy">;

/** The p95 of a quiet period, at half load: ln 20 / (1 - 0.5) service times. */
export const QUIET_DELAY_MS: number = (Math.log(20) / 0.5) * UNIT_MS;

/** Fifty servers, random routing, copies that draw anew; nothing is cancelled unless said. */
export function hedgedWorld(
  load: number,
  cancel: "none" | "queued",
  more: ServiceOptions,
): WorldOptions {
  const world: World = { ...theoryWorld(50, load, 400_000), copies: "independent", cancel };
  return { ...world, policy: plain({ policy: "random" }, more) };
}

const metastable: BuiltInScenario = {
  name: "metastable-hedge",
  title:
    "A fixed hedge delay without budget and without cancel collapses far below saturation; and its cures",
  source: "algorithms 0.4 and 3.4: mean-field limit 0.615; bistable at 0.60",
  run: (options = {}) => {
    const free = unguardedHedge(QUIET_DELAY_MS);
    const capped = hedge(QUIET_DELAY_MS, 0.05);
    const h = (extra: number) => ({ extra });
    const rows: WorldRow[] = [
      { name: "load 0.50, unguarded", world: hedgedWorld(0.5, "none", free) },
      { name: "load 0.55, unguarded", world: hedgedWorld(0.55, "none", free), exact: h(0.09) },
      { name: "load 0.60, unguarded", world: hedgedWorld(0.6, "none", free) },
      { name: "load 0.65, unguarded", world: hedgedWorld(0.65, "none", free), exact: h(1) },
      { name: "load 0.70, no hedge", world: hedgedWorld(0.7, "none", {}), exact: { p99: 153 } },
      { name: "load 0.70, unguarded", world: hedgedWorld(0.7, "none", free), exact: h(1) },
      { name: "load 0.70, cancel", world: hedgedWorld(0.7, "queued", free), exact: { p99: 92.4 } },
      {
        name: "load 0.70, 5 % budget",
        world: hedgedWorld(0.7, "none", capped),
        exact: { p99: 164 },
      },
      {
        name: "load 0.70, cancel and budget",
        world: hedgedWorld(0.7, "queued", capped),
        exact: { p99: 119 },
      },
    ];
    return {
      name: "metastable-hedge",
      title: metastable.title,
      columns: [...LATENCY_COLUMNS, EXTRA_COLUMN],
      rows: runWorlds(rows, { ...LATENCIES, ...EXTRA }, options),
      notes: [
        `The delay is the p95 at half load, ${QUIET_DELAY_MS.toFixed(1)} ms. Limit by theory: load ${criticalHedgeLoad(0.5).toFixed(4)}.`,
        "A budget alone bounds the damage and does harm at this load; cancelling copies that wait is the cure, the budget the safety net.",
      ],
    };
  },
};

const livePercentile: BuiltInScenario = {
  name: "live-percentile",
  title: "A hedge delay from a live percentile feeds back on itself; a fixed one floods",
  source: "tail amplification note: hedging safely",
  run: (options = {}) => {
    const live: ServiceOptions = {
      hedge: { afterMs: { quantile: 0.95 } },
      budget: { extraRatio: 2, burstCount: 10_000 },
    };
    const rows: WorldRow[] = [0.5, 0.6, 0.7, 0.8].flatMap((load) => [
      { name: `load ${load}, no hedge`, world: hedgedWorld(load, "none", {}) },
      {
        name: `load ${load}, fixed`,
        world: hedgedWorld(load, "none", unguardedHedge(QUIET_DELAY_MS)),
      },
      { name: `load ${load}, live p95`, world: hedgedWorld(load, "none", live) },
      {
        name: `load ${load}, fixed, 5 %, cancel`,
        world: hedgedWorld(load, "queued", hedge(QUIET_DELAY_MS, 0.05)),
      },
    ]);
    return {
      name: "live-percentile",
      title: livePercentile.title,
      columns: [...LATENCY_COLUMNS, EXTRA_COLUMN],
      rows: runWorlds(rows, { ...LATENCIES, ...EXTRA }, options),
      notes: [
        "The live p95 keeps its 5 % and climbs with the latency, so at high load it hedges too late to help. The fixed delay is right on a quiet day and doubles the load on a busy one. Fixed, with a cancel and a budget, is right on both.",
      ],
    };
  },
};

const STALL: Law = { kind: "uniform", fromMs: 50, toMs: 150 };

const hedgesCostLoad: BuiltInScenario = {
  name: "hedges-cost-load",
  title:
    "What the article's hedging model has for free: second copies are load on the same servers",
  source: "balancing article, where it breaks",
  run: (options = {}) => {
    const fleet = (load: number): World => ({
      servers: [{ count: 10, workers: 4, interference: STALL, interferenceRatio: 0.01 }],
      size: { kind: "lognormal", mu: 1.3, sigma: 0.4 },
      arrivals: { kind: "poisson", load },
      requests: 400_000,
    });
    const rows: WorldRow[] = [0.3, 0.5, 0.7, 0.8].flatMap((load) => {
      const row = (name: string, more: ServiceOptions, world: Partial<World> = {}): WorldRow => ({
        name: `load ${load}, ${name}`,
        world: { ...fleet(load), ...world, policy: plain({}, more) },
      });
      return [
        row("no hedge", {}),
        row("after 10 ms, unbounded", unguardedHedge(10)),
        row("after 10 ms, 5 % budget", hedge(10, 0.05)),
        row("the same, a cancel frees the worker", hedge(10, 0.05), { cancel: "running" }),
      ];
    });
    return {
      name: "hedges-cost-load",
      title: hedgesCostLoad.title,
      columns: [...LATENCY_COLUMNS, EXTRA_COLUMN, BUSY_COLUMN],
      rows: runWorlds(rows, { ...LATENCIES, ...EXTRA, ...BUSY }, options),
      notes: [
        "Ten servers of four workers, 1 % of copies stalled for 50 to 150 ms by their server; two choices.",
      ],
    };
  },
};

const saturated: BuiltInScenario = {
  name: "budgeted-hedger",
  title: "A hedger with and without a budget when the whole fleet is slow now and then",
  source: "fan-out lesson, its budget program, with queues; the program itself is `golden-budget`",
  run: (options = {}) => {
    const fleet = (saturatedFleet: boolean): World => ({
      servers: [
        {
          count: 10,
          workers: 4,
          interference: { kind: "uniform", fromMs: 60, toMs: 120 },
          interferenceRatio: 0.02,
          faults: saturatedFleet
            ? [{ kind: "slow", atMs: 2000, forMs: 2000, everyMs: 6000, factor: 1.7 }]
            : [],
        },
      ],
      size: { kind: "uniform", fromMs: 3, toMs: 8 },
      arrivals: { kind: "poisson", load: 0.6 },
      requests: 200_000,
    });
    const rows: WorldRow[] = [false, true].flatMap((slow) => {
      const name = slow ? "fleet slow a third of the time" : "normal";
      const row = (what: string, more: ServiceOptions): WorldRow => ({
        name: `${name}, ${what}`,
        world: { ...fleet(slow), policy: { ...plain({}, more), deadlineMs: 2000 } },
      });
      return [
        row("no hedge", {}),
        row("after 10 ms, no budget", unguardedHedge(10)),
        row("after 10 ms, 5 % budget", hedge(10, 0.05)),
      ];
    });
    return {
      name: "budgeted-hedger",
      title: saturated.title,
      columns: [...LATENCY_COLUMNS, FAILED_COLUMN, EXTRA_COLUMN],
      rows: runWorlds(rows, { ...LATENCIES, ...FAILED, ...EXTRA }, options),
      notes: [],
    };
  },
};

export const feedbackScenarios: readonly BuiltInScenario[] = [
  metastable,
  livePercentile,
  hedgesCostLoad,
  saturated,
];
