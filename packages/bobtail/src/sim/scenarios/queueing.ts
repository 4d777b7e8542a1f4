import { seededRng } from "../../core/rng.ts";
import type { Attempt } from "../../policies/attempt.ts";
import { Call } from "../../policies/call.ts";
import type { BalanceOptions, ServiceOptions } from "../../policies/options.ts";
import type { Port } from "../../policies/port.ts";
import { createService } from "../../policies/service.ts";
import { heldAtLeast } from "../result-views.ts";
import type { WorldOptions } from "../scenario.ts";
import { supermarketTail } from "../theory.ts";
import { plain, unguardedHedge } from "./policies.ts";
import {
  type BuiltInScenario,
  type Column,
  runSamples,
  runWorlds,
  scaled,
  type WorldRow,
} from "./scenario-table.ts";

const MEAN: Column = { key: "mean", title: "mean time", unit: "number", digits: 3 };
/** The unit of time of the theory, in ms: long enough that a histogram of microseconds loses nothing. */
export const UNIT_MS = 10;

type World = Omit<WorldOptions, "seed" | "policy">;

/** Servers of one worker, exponential work of one unit, nothing but the policy under test. */
export function theoryWorld(count: number, load: number, requests: number): World {
  return {
    servers: [{ count }],
    size: { kind: "exponential", meanMs: UNIT_MS },
    arrivals: { kind: "poisson", load },
    requests,
    warmUpRatio: load >= 0.9 ? 0.2 : 0.1,
  };
}

const ballsInBins: BuiltInScenario = {
  name: "balls-in-bins",
  title: "The fullest of n bins after n balls: one random bin, the emptier of two, of three",
  source:
    "balancing article: ln n / ln ln n and ln ln n / ln d, up to a constant (Azar et al., 1994)",
  run: (options = {}) => {
    const sizes = [100, 1000].map((n) => scaled(n, Math.min(1, options.scale ?? 1)));
    return {
      name: "balls-in-bins",
      title: ballsInBins.title,
      columns: [
        { key: "one", title: "one choice", unit: "number", digits: 2 },
        { key: "two", title: "two choices", unit: "number", digits: 2 },
        { key: "three", title: "three choices", unit: "number", digits: 2 },
      ],
      rows: runSamples(
        sizes.map((n) => ({
          name: `${n} bins`,
          exact: {
            one: Math.log(n) / Math.log(Math.log(n)),
            two: Math.log(Math.log(n)) / Math.log(2),
            three: Math.log(Math.log(n)) / Math.log(3),
          },
          sample: (seed) => ({
            one: fullestBin(n, { policy: "random" }, seed),
            two: fullestBin(n, { choices: 2 }, seed),
            three: fullestBin(n, { choices: 3 }, seed),
          }),
        })),
        options,
      ),
      notes: [
        "The balls are calls that never end, placed by the balancers of production. The theory's constant is about 1.",
      ],
    };
  },
};

/** Calls that never end. */
const SILENT: Port = { send() {}, cancel() {}, wakeAt() {}, settle() {} };

function fullestBin(bins: number, balance: BalanceOptions, seed: number): number {
  const service = createService({
    options: plain(balance),
    endpoints: Array.from({ length: bins }, (_, i) => ({ name: String(i) })),
    port: SILENT,
    rng: seededRng(seed),
    nowMs: 0,
  });
  const cls = service.hedger.classOf("ball");
  let last: Attempt | undefined;
  for (let ball = 0; ball < bins; ball++) {
    const call = new Call(cls, last);
    service.machine.start(call, 0);
    last = call.last;
  }
  return service.balancer.endpoints.reduce((max, e) => Math.max(max, e.outstanding), 0);
}

const supermarket: BuiltInScenario = {
  name: "supermarket",
  title: "The share of servers with at least so many requests, at 90 % load",
  source: "balancing article: r^i and r^(2^i - 1), for ever more servers; here 500",
  run: (options = {}) => {
    const counts = [1, 2, 3, 4, 5, 6];
    const world: World = { ...theoryWorld(500, 0.9, 2_000_000), occupancy: true };
    const statistics = Object.fromEntries(
      counts.map((i) => [`at${i}`, (r: Parameters<typeof heldAtLeast>[0]) => heldAtLeast(r, i)]),
    );
    const rows: WorldRow[] = [1, 2, 3].map((choices) => ({
      name: choices === 1 ? "random" : choices === 2 ? "two choices" : "three choices",
      world: { ...world, policy: choices === 1 ? plain({ policy: "random" }) : plain({ choices }) },
      exact: Object.fromEntries(counts.map((i) => [`at${i}`, supermarketTail(0.9, choices, i)])),
    }));
    return {
      name: "supermarket",
      title: supermarket.title,
      columns: counts.map((i) => ({ key: `at${i}`, title: `>= ${i}`, unit: "ratio", digits: 2 })),
      rows: runWorlds(rows, statistics, options),
      notes: [],
    };
  },
};

/** Mean times at 90 % load, 100 servers, counts refreshed every T units. */
export const STALE_TABLE: readonly (readonly [number, number, number])[] = [
  [0.1, 2.68, 2.1],
  [0.5, 2.81, 2.32],
  [1, 2.96, 2.57],
  [2, 3.25, 3.04],
  [5, 4.01, 4.31],
  [10, 5.12, 6.26],
  [20, 7.08, 10.02],
];

const staleInformation: BuiltInScenario = {
  name: "stale-information",
  title: "Mean time with counts refreshed every T service times, at 90 % load (random: 10)",
  source: "Mitzenmacher, 2000; figures of an independent simulation, algorithms 3.10",
  run: (options = {}) => {
    const rows: WorldRow[] = STALE_TABLE.flatMap(([t, two, three]) => {
      const reports = { everyMs: t * UNIT_MS };
      const world = { ...theoryWorld(100, 0.9, 1_500_000), reports };
      return [
        {
          name: `T ${t}, two choices`,
          world: { ...world, policy: plain({ choices: 2 }) },
          exact: { mean: two },
        },
        {
          name: `T ${t}, three choices`,
          world: { ...world, policy: plain({ choices: 3 }) },
          exact: { mean: three },
        },
        {
          name: `T ${t}, least of 64`,
          world: { ...world, servers: [{ count: 64 }], policy: plain({ policy: "least" }) },
        },
      ];
    });
    return {
      name: "stale-information",
      title: staleInformation.title,
      columns: [MEAN],
      rows: runWorlds(rows, { mean: (r) => r.latency.mean / 1000 / UNIT_MS }, options),
      notes: [
        "`least` scans at most 64 endpoints, so that column has a smaller fleet; the order of the rows is that of 100.",
      ],
    };
  },
};

/** Two copies at once, neither of which is ever cancelled. */
export function redundant(world: World, count: number): WorldOptions {
  const policy: ServiceOptions = plain({ policy: "random" }, unguardedHedge(0));
  return { ...world, servers: [{ count }], copies: "independent", cancel: "none", policy };
}

const redundancyThresholds: BuiltInScenario = {
  name: "redundancy-thresholds",
  title: "Below which load two copies of everything are better than one",
  source:
    "Vulimiri et al., 2013: 1/3 for exponential work; about 0.26 for constant work and 20 servers",
  run: (options = {}) => {
    const rows: WorldRow[] = (["exponential", "constant"] as const).flatMap((kind) => {
      const size =
        kind === "exponential"
          ? ({ kind, meanMs: UNIT_MS } as const)
          : ({ kind, valueMs: UNIT_MS } as const);
      return [0.2, 0.25, 0.28, 0.33, 0.38].flatMap((load) => {
        const world = { ...theoryWorld(20, load, 500_000), size };
        const one = 1 / (1 - load);
        const two = 1 / (2 * (1 - 2 * load));
        const isExponential = kind === "exponential";
        return [
          {
            name: `${kind}, load ${load}, one copy`,
            world: { ...world, policy: plain({ policy: "random" }) },
            exact: { mean: isExponential ? one : 1 + load / (2 * (1 - load)) },
          },
          {
            name: `${kind}, load ${load}, two copies`,
            world: redundant(world, 20),
            exact: isExponential ? { mean: two } : undefined,
          },
        ];
      });
    });
    return {
      name: "redundancy-thresholds",
      title: redundancyThresholds.title,
      columns: [MEAN],
      rows: runWorlds(rows, { mean: (r) => r.latency.mean / 1000 / UNIT_MS }, options),
      notes: [
        "Each copy draws its own size here. Copies that share the request's size gain only what queues differ.",
      ],
    };
  },
};

export const queueingScenarios: readonly BuiltInScenario[] = [
  ballsInBins,
  supermarket,
  staleInformation,
  redundancyThresholds,
];
