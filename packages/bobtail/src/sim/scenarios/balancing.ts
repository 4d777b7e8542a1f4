import { quantileMs, shareOf } from "../result-views.ts";
import type { ServerOptions, WorldOptions } from "../scenario.ts";
import { plain } from "./policies.ts";
import {
  type BuiltInScenario,
  type Column,
  FAILED,
  FAILED_COLUMN,
  LATENCIES,
  LATENCY_COLUMNS,
  runWorlds,
  type WorldRow,
} from "./scenario-table.ts";

const TO_SLOW: Column = { key: "toSlow", title: "to backend 0", unit: "ratio", digits: 1 };
const TO_SECOND: Column = { key: "toSecond", title: "to backend 1", unit: "ratio", digits: 1 };
const toSlow = { toSlow: (r: Parameters<typeof shareOf>[0]) => shareOf(r, 0) };
const COMPLETED =
  "Percentiles are of completed requests; those that would wait for over a second count as failed.";

type World = Omit<WorldOptions, "seed" | "policy">;

/** Ten backends of four workers, 10 ms of work a request, 70 % of capacity; a request that has queued for 1 s is dropped. */
function fleet(slow: number, more: Partial<ServerOptions> = {}): World {
  const healthy = { workers: 4, queueTimeoutMs: 1000 };
  return {
    servers: [
      { ...healthy, slowdown: 5, ...more, count: slow },
      { ...healthy, count: 10 - slow },
    ],
    size: { kind: "exponential", meanMs: 10 },
    arrivals: { kind: "poisson", load: 0.7 },
    requests: 300_000,
    warmUpRatio: 0,
  };
}

const ROUND_ROBIN = plain({ policy: "round-robin" });
const RANDOM = plain({ policy: "random" });
const LEAST = plain({ policy: "least" });
const TWO = plain({ policy: "two-choices" });
const THREE = plain({ policy: "two-choices", choices: 3 });

function sixPolicies(world: World, everyMs: number): WorldRow[] {
  const stale = { ...world, reports: { everyMs } };
  return [
    { name: "round robin", world: { ...world, policy: ROUND_ROBIN } },
    { name: "random", world: { ...world, policy: RANDOM } },
    { name: "least outstanding", world: { ...world, policy: LEAST } },
    { name: "least outstanding, stale", world: { ...stale, policy: LEAST } },
    { name: "two choices", world: { ...world, policy: TWO } },
    { name: "two choices, stale", world: { ...stale, policy: TWO } },
  ];
}

const ARTICLE = [
  { p50: 8.0, p99: 1057, p999: 1170, failed: 0.0685, toSlow: 0.1 },
  { p50: 9.8, p99: 1054, p999: 1170, failed: 0.0686, toSlow: 0.1 },
  { p50: 7.2, p99: 60, p999: 165, failed: 0, toSlow: 0.026 },
  { p50: 22.1, p99: 193, p999: 557, failed: 0, toSlow: 0.026 },
  { p50: 7.7, p99: 71, p999: 179, failed: 0, toSlow: 0.03 },
  { p50: 9.7, p99: 102, p999: 228, failed: 0, toSlow: 0.03 },
];
const BLIND_LOSS = (257.6 - 80) / 2576;

const slowBackend: BuiltInScenario = {
  name: "slow-backend",
  title: "Six balancing policies, one backend of ten five times slower",
  source: "balancing article, part 1; exact is the loss of a blind policy by arithmetic",
  run: (options = {}) => ({
    name: "slow-backend",
    title: slowBackend.title,
    columns: [...LATENCY_COLUMNS, FAILED_COLUMN, TO_SLOW],
    rows: runWorlds(
      sixPolicies(fleet(1), 20).map((row, i) => ({
        ...row,
        article: ARTICLE[i],
        exact: i < 2 ? { failed: BLIND_LOSS } : undefined,
      })),
      { ...LATENCIES, ...FAILED, ...toSlow },
      options,
    ),
    notes: [
      COMPLETED,
      "The slow backend can do 2.2 % of the fleet's work. Stale: counts of every 20 ms.",
    ],
  }),
};

const twoSlow: BuiltInScenario = {
  name: "two-slow-backends",
  title: "The same with two slow backends",
  source: "balancing article, exercise 1",
  run: (options = {}) => ({
    name: "two-slow-backends",
    title: twoSlow.title,
    columns: [...LATENCY_COLUMNS, FAILED_COLUMN, TO_SLOW, TO_SECOND],
    rows: runWorlds(
      sixPolicies(fleet(2), 20),
      { ...LATENCIES, ...FAILED, ...toSlow, toSecond: (r) => shareOf(r, 1) },
      options,
    ),
    notes: [COMPLETED, "Each slow backend can do 2.4 % of the fleet's work."],
  }),
};

const stale: BuiltInScenario = {
  name: "stale-counts",
  title: "Counts that are 100 ms old, and three choices",
  source: "balancing article, exercise 2",
  run: (options = {}) => {
    const world = fleet(1);
    const old = { ...world, reports: { everyMs: 100 } };
    const rows: WorldRow[] = [
      { name: "random", world: { ...world, policy: RANDOM } },
      { name: "least outstanding, 100 ms old", world: { ...old, policy: LEAST } },
      { name: "two choices, 100 ms old", world: { ...old, policy: TWO } },
      { name: "three choices, 100 ms old", world: { ...old, policy: THREE } },
      { name: "two choices, fresh", world: { ...world, policy: TWO } },
      { name: "three choices, fresh", world: { ...world, policy: THREE } },
    ];
    return {
      name: "stale-counts",
      title: stale.title,
      columns: [...LATENCY_COLUMNS, FAILED_COLUMN, TO_SLOW],
      rows: runWorlds(rows, { ...LATENCIES, ...FAILED, ...toSlow }, options),
      notes: [COMPLETED],
    };
  },
};

const failsFast: BuiltInScenario = {
  name: "fails-fast",
  title: "Backend 0 answers half of its requests with an error in 1 ms",
  source: "balancing article, exercise 3; the last rows are the rule that Bobtail has instead",
  run: (options = {}) => {
    const world = fleet(1, { slowdown: 1, failRatio: 0.5, failAfterMs: 1 });
    const penalty = { load: "outstanding", errorPenalty: true } as const;
    const limits = plain({});
    const rows: WorldRow[] = [
      { name: "round robin", world: { ...world, policy: ROUND_ROBIN } },
      { name: "random", world: { ...world, policy: RANDOM } },
      { name: "least outstanding", world: { ...world, policy: LEAST } },
      { name: "two choices", world: { ...world, policy: TWO } },
      {
        name: "two choices, error penalty",
        world: { ...world, policy: { ...limits, balance: { policy: "two-choices", ...penalty } } },
      },
      {
        name: "least, error penalty",
        world: { ...world, policy: { ...limits, balance: { policy: "least", ...penalty } } },
      },
      { name: "Bobtail's defaults, one retry", world: { ...world, policy: {} } },
    ];
    return {
      name: "fails-fast",
      title: failsFast.title,
      columns: [...LATENCY_COLUMNS, FAILED_COLUMN, TO_SLOW],
      rows: runWorlds(rows, { ...LATENCIES, ...FAILED, ...toSlow }, options),
      notes: [
        "A backend that fails fast looks idle, so counting alone sends it more than its tenth.",
      ],
    };
  },
};

const noDeadline: BuiltInScenario = {
  name: "no-deadline",
  title: "A queue without a deadline grows as long as the run",
  source: "balancing article, where it breaks",
  run: (options = {}) => {
    const base = fleet(1, { queueTimeoutMs: undefined });
    const healthy = { count: 9, workers: 4 };
    const world = { ...base, servers: [{ workers: 4, slowdown: 5 }, healthy] };
    const rows: WorldRow[] = [1, 2, 4].map((times) => ({
      name: `round robin, ${times * 100},000 requests`,
      world: { ...world, requests: times * 100_000, policy: ROUND_ROBIN },
    }));
    rows.push({
      name: "two choices, 400,000 requests",
      world: { ...world, requests: 400_000, policy: TWO },
    });
    rows.push({
      name: "round robin, Bobtail's limits, 400,000",
      world: {
        ...world,
        requests: 400_000,
        policy: { balance: { policy: "round-robin" }, deadlineMs: 1000 },
      },
    });
    return {
      name: "no-deadline",
      title: noDeadline.title,
      columns: [...LATENCY_COLUMNS, FAILED_COLUMN],
      rows: runWorlds(rows, { ...LATENCIES, ...FAILED }, options),
      notes: [
        "The slow backend gets 258 requests a second and can serve 80: its queue gains 178 a second.",
      ],
    };
  },
};

const unequalCosts: BuiltInScenario = {
  name: "unequal-costs",
  title: "Calls of very unequal cost, balanced by count and by work",
  source: "balancing article, where it breaks; balancing model servers",
  run: (options = {}) => {
    const world: World = {
      servers: [{ count: 20 }],
      classes: [
        { name: "short", share: 0.95, size: { kind: "exponential", meanMs: 4 } },
        { name: "long", share: 0.05, size: { kind: "exponential", meanMs: 400 } },
      ],
      arrivals: { kind: "poisson", load: 0.7 },
      requests: 200_000,
      cost: "size",
    };
    const rows: WorldRow[] = [
      { name: "random", world: { ...world, policy: RANDOM } },
      { name: "two choices by count", world: { ...world, policy: TWO } },
      { name: "two choices by work", world: { ...world, policy: plain({ load: "work" }) } },
      { name: "least by count", world: { ...world, policy: LEAST } },
      {
        name: "least by work",
        world: { ...world, policy: plain({ policy: "least", load: "work" }) },
      },
    ];
    return {
      name: "unequal-costs",
      title: unequalCosts.title,
      columns: LATENCY_COLUMNS,
      rows: runWorlds(rows, LATENCIES, options),
      notes: [
        "One call in twenty is a hundred times longer. Its cost is known to the balancer when it comes.",
      ],
    };
  },
};

const MANY: readonly (readonly [number, number])[] = [
  [1, 2.66],
  [5, 3.57],
  [20, 5.08],
  [100, 7.12],
];

const manyClients: BuiltInScenario = {
  name: "many-clients",
  title: "Two choices on each client's own counts: 100 servers at 90 % load",
  source: "algorithms 3.13: independent simulation; a mean service time is 10 ms",
  run: (options = {}) => {
    const world: World = {
      servers: [{ count: 100 }],
      size: { kind: "exponential", meanMs: 10 },
      arrivals: { kind: "poisson", load: 0.9 },
      requests: 2_000_000,
      warmUpRatio: 0.2,
    };
    const rows: WorldRow[] = MANY.map(([clients, mean]) => ({
      name: `${clients} client${clients === 1 ? "" : "s"}`,
      world: { ...world, clients, policy: TWO },
      exact: { mean: 10 * mean },
    }));
    rows.push({
      name: "100 clients, servers' own counts",
      world: { ...world, clients: 100, reports: { everyMs: 0 }, policy: TWO },
      exact: { mean: 26.6 },
    });
    rows.push({
      name: "random",
      world: { ...world, policy: RANDOM },
      exact: { mean: 100 },
    });
    return {
      name: "many-clients",
      title: manyClients.title,
      columns: [
        { key: "mean", title: "mean", unit: "ms", digits: 1 },
        { key: "p99", title: "p99", unit: "ms", digits: 0 },
      ],
      rows: runWorlds(
        rows,
        { mean: (r) => r.latency.mean / 1000, p99: (r) => quantileMs(r, 0.99) },
        options,
      ),
      notes: ["A client that sees one call in a hundred compares nearly always 0 with 0."],
    };
  },
};

export const balancingScenarios: readonly BuiltInScenario[] = [
  slowBackend,
  twoSlow,
  stale,
  failsFast,
  noDeadline,
  unequalCosts,
  manyClients,
];
