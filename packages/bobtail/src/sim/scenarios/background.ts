import type { ServiceOptions } from "../../policies/options.ts";
import type { ChoreOptions, WorldOptions } from "../scenario.ts";
import { hedge, plain } from "./policies.ts";
import {
  type BuiltInScenario,
  EXTRA,
  EXTRA_COLUMN,
  LATENCIES,
  LATENCY_COLUMNS,
  runWorlds,
  type WorldRow,
} from "./scenario-table.ts";

type World = Omit<WorldOptions, "seed" | "policy">;

const chores: BuiltInScenario = {
  name: "background-chores",
  title: "Chores of 20 ms once a second: aligned, scattered, staggered by replica",
  source:
    "fan-out lesson: at one moment on all leaves; tail amplification note: staggered across replicas",
  run: (options = {}) => {
    const world = (placement: ChoreOptions["placement"] | undefined): World => ({
      servers: [{ count: 2, workers: 4 }],
      shards: 40,
      leaves: 40,
      size: { kind: "lognormal", mu: 1, sigma: 0.35 },
      arrivals: { kind: "poisson", load: 0.3 },
      requests: 8000,
      ...(placement === undefined ? {} : { chores: { everyMs: 1000, forMs: 20, placement } }),
    });
    const rows: WorldRow[] = [undefined, "aligned", "scattered", "staggered"].flatMap((p) => {
      const placement = p as ChoreOptions["placement"] | undefined;
      const row = (name: string, more: ServiceOptions): WorldRow => ({
        name: `${placement ?? "no chores"}, ${name}`,
        world: { ...world(placement), policy: plain({}, more) },
      });
      return [row("no hedge", {}), row("hedge after 8 ms", hedge(8, 0.1))];
    });
    return {
      name: "background-chores",
      title: chores.title,
      columns: [...LATENCY_COLUMNS, EXTRA_COLUMN],
      rows: runWorlds(rows, { ...LATENCIES, ...EXTRA }, options),
      notes: [
        "Requests wait for 40 leaves, each a shard of two replicas. Scattered chores meet nearly every request, aligned ones the few that come at their moment. Staggered: at any moment the other replica of every shard is free, which is what a balancer or a hedge needs.",
      ],
    };
  },
};

const thousandKeys: BuiltInScenario = {
  name: "thousand-keys",
  title: "A read of 1,000 keys over 100 servers: no hedge, and after 10 ms",
  source:
    "Dean and Barroso: 1,800 to 74 ms at p99.9 for 2 % more requests, measured in BigTable. Simulated: 100 shards of three replicas",
  run: (options = {}) => {
    const world: World = {
      servers: [
        {
          count: 3,
          workers: 16,
          interference: {
            kind: "mixture",
            parts: [
              { share: 0.99, law: { kind: "uniform", fromMs: 10, toMs: 60 } },
              { share: 0.01, law: { kind: "uniform", fromMs: 500, toMs: 2000 } },
            ],
          },
          interferenceRatio: 0.012,
        },
      ],
      shards: 100,
      leaves: 1000,
      size: { kind: "lognormal", mu: 0.7, sigma: 0.5 },
      arrivals: { kind: "poisson", load: 0.3 },
      requests: 2500,
    };
    const rows: WorldRow[] = [
      {
        name: "no hedge",
        world: { ...world, policy: plain({}) },
        article: { p999: 1800, extra: 0 },
      },
      {
        name: "hedge after 10 ms",
        world: { ...world, policy: plain({}, hedge(10, 0.05)) },
        article: { p999: 74, extra: 0.02 },
      },
    ];
    return {
      name: "thousand-keys",
      title: thousandKeys.title,
      columns: [...LATENCY_COLUMNS, EXTRA_COLUMN],
      rows: runWorlds(rows, { ...LATENCIES, ...EXTRA }, options),
      notes: [
        "The laws are an assumption of this sketch; what it shows is the shape: two orders of magnitude for two per cent.",
      ],
    };
  },
};

export const backgroundScenarios: readonly BuiltInScenario[] = [chores, thousandKeys];
