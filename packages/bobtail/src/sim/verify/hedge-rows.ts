import type { Attempt } from "../../policies/attempt.ts";
import { extraRatio, failedRatio } from "../result-views.ts";
import type { WorldOptions } from "../scenario.ts";
import { hedgedWorld, QUIET_DELAY_MS } from "../scenarios/feedback.ts";
import { hedge, plain, unguardedHedge } from "../scenarios/policies.ts";
import { theoryWorld, UNIT_MS } from "../scenarios/queueing.ts";
import { criticalHedgeLoad, forkJoin2Mean, mmcMean } from "../theory.ts";
import { World } from "../world.ts";
import { runWorld, type SimRow } from "./sim-row.ts";

function feedbackRows(): SimRow[] {
  const long = (world: WorldOptions): WorldOptions => ({ ...world, requests: 4_000_000 });
  const unguarded = (load: number) =>
    long(hedgedWorld(load, "none", unguardedHedge(QUIET_DELAY_MS)));
  const capped = hedge(QUIET_DELAY_MS, 0.05);
  const p99 = (world: WorldOptions) => (scale: number) =>
    runWorld(world, scale, 6).latency.quantile(0.99) / 1000 / UNIT_MS;
  const tails: readonly (readonly [string, number, WorldOptions])[] = [
    ["no hedge", 15.3, long(hedgedWorld(0.7, "none", {}))],
    [
      "copies that wait are cancelled",
      9.24,
      long(hedgedWorld(0.7, "queued", unguardedHedge(QUIET_DELAY_MS))),
    ],
    ["a 5 % budget alone", 16.4, long(hedgedWorld(0.7, "none", capped))],
    ["cancel and a 5 % budget", 11.9, long(hedgedWorld(0.7, "queued", capped))],
  ];
  return [
    {
      id: "36a",
      fact: "fixed hedge without budget and cancel at load 0.55: extra",
      source: "independent simulation",
      expected: 0.09,
      tolerance: { kind: "absolute", value: 0.01 },
      quick: { scale: 0.03, slack: 3 },
      compute: (scale = 1) => extraRatio(runWorld(unguarded(0.55), scale)),
    },
    {
      id: "36b",
      fact: "fixed hedge without budget and cancel at load 0.65: extra",
      source: "independent simulation",
      expected: 0.9,
      tolerance: { kind: "least" },
      quick: { scale: 0.03, slack: 1 },
      compute: (scale = 1) => extraRatio(runWorld(unguarded(0.65), scale)),
    },
    ...tails.map(
      ([name, expected, world]): SimRow => ({
        id: `37 (${name})`,
        fact: `hedge at load 0.7, ${name}: p99 in service times`,
        source: "independent simulation",
        expected,
        tolerance: { kind: "ratio", value: 0.04 },
        quick: { scale: 0.04, slack: 3 },
        compute: (scale = 1) => p99(world)(scale),
      }),
    ),
    {
      id: "38",
      fact: "critical load of a hedge after the p95 at half load",
      source: "mean field",
      expected: 0.6153,
      tolerance: { kind: "absolute", value: 0.001 },
      quick: { scale: 1, slack: 1 },
      compute: () => criticalHedgeLoad(0.5),
    },
    {
      id: "35",
      fact: "hedges in any window of calls beyond burst + 5 % of them, 5 % budget, 90 % load: most",
      source: "fan-out lesson",
      expected: 0,
      tolerance: { kind: "most" },
      quick: { scale: 0.1, slack: 1 },
      compute: (scale = 1) => overspent(Math.round(1_000_000 * scale)),
    },
  ];
}

/** The most that hedges of any window exceed what its burst and its successes pay for. */
function overspent(requests: number): number {
  const burst = 10;
  const ratio = 0.05;
  // The excess of the worst window that ends here: like the greatest sum of a run of numbers.
  let excess = 0;
  let worst = Number.NEGATIVE_INFINITY;
  const world: WorldOptions = { ...hedgedWorld(0.9, "none", hedge(1, ratio)), requests };
  const observer = {
    launched(a: Attempt): void {
      if (a.kind === "primary") return;
      excess = Math.max(0, excess) + 1;
      worst = Math.max(worst, excess - burst);
    },
    settled(): void {
      excess = Math.max(0, excess) - ratio;
    },
  };
  new World(world, { observer }).run();
  return Math.round(worst * 1e6) / 1e6;
}

function forkJoinRows(): SimRow[] {
  const world = (leaves: number): WorldOptions => ({
    ...theoryWorld(1, 0.7, 3_000_000),
    servers: [{}],
    shards: leaves,
    leaves,
    policy: plain({}),
  });
  const cases: readonly (readonly [string, number, number, string])[] = [
    ["27", 2, forkJoin2Mean(0.7), "Flatto & Hahn, 1984"],
    ["28a", 10, 8.27, "independent simulation; Nelson & Tantawi 8.05"],
    ["28b", 32, 10.83, "independent simulation; Nelson & Tantawi 10.70"],
  ];
  return cases.map(([id, leaves, expected, source]) => ({
    id,
    fact: `fork to ${leaves} queues and join at load 0.7: mean time`,
    source,
    expected,
    tolerance: { kind: "ratio", value: 0.015 },
    quick: leaves === 32 ? undefined : { scale: leaves === 2 ? 0.04 : 0.008, slack: 6 },
    compute: (scale: number = 1) => runWorld(world(leaves), scale).root.mean / 1000 / UNIT_MS,
  }));
}

function slowBackendRows(): SimRow[] {
  const blind: WorldOptions = {
    servers: [
      { workers: 4, slowdown: 5, queueTimeoutMs: 1000 },
      { count: 9, workers: 4, queueTimeoutMs: 1000 },
    ],
    size: { kind: "exponential", meanMs: 10 },
    arrivals: { kind: "poisson", load: 0.7 },
    requests: 4_000_000,
    policy: plain({ policy: "round-robin" }),
  };
  const healthy: WorldOptions = {
    ...blind,
    servers: [{ count: 9, workers: 4 }],
    arrivals: { kind: "poisson", load: 0.644 },
    policy: plain({ policy: "random" }),
  };
  return [
    {
      id: "42a",
      fact: "the slow backend's share of the fleet's capacity",
      source: "arithmetic",
      expected: 0.02174,
      tolerance: { kind: "absolute", value: 1e-5 },
      quick: { scale: 1, slack: 1 },
      compute: () => 80 / (80 + 9 * 400),
    },
    {
      id: "42b",
      fact: "share of requests that round robin loses",
      source: "arithmetic",
      expected: 0.06894,
      tolerance: { kind: "absolute", value: 0.001 },
      quick: { scale: 0.04, slack: 4 },
      compute: (scale = 1) => failedRatio(runWorld(blind, scale)),
    },
    {
      id: "43",
      fact: "nine healthy backends of four workers at load 0.644 under random: mean, ms",
      source: "Erlang C",
      expected: UNIT_MS * mmcMean(4, 0.644),
      tolerance: { kind: "ratio", value: 0.01 },
      quick: { scale: 0.04, slack: 4 },
      compute: (scale = 1) => runWorld(healthy, scale).latency.mean / 1000,
    },
  ];
}

export const hedgeRows: readonly SimRow[] = [
  ...feedbackRows(),
  ...forkJoinRows(),
  ...slowBackendRows(),
];
