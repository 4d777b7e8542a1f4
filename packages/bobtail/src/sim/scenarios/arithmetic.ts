import { seededRng } from "../../core/rng.ts";
import { compileLaw, type Law } from "../law.ts";
import { nearestRank } from "../sampled-fan-out.ts";
import { slowShare } from "../theory.ts";
import { World } from "../world.ts";
import { plain } from "./policies.ts";
import { type BuiltInScenario, runSamples, scaled, type TableRow } from "./scenario-table.ts";

const FAN_OUTS: readonly number[] = [1, 10, 50, 100, 500, 2000];
const SHARES: readonly (readonly [string, number])[] = [
  ["in100", 0.01],
  ["in1000", 0.001],
  ["in10000", 0.0001],
];
const PRINTED: Readonly<Record<string, readonly number[]>> = {
  in100: [0.01, 0.0956, 0.395, 0.634, 0.9934, 1],
  in1000: [0.001, 0.01, 0.0488, 0.0952, 0.3936, 0.8648],
  in10000: [0.0001, 0.001, 0.005, 0.01, 0.0488, 0.1813],
};

const fanOutTables: BuiltInScenario = {
  name: "fan-out-tables",
  title: "How a rare slow server becomes a common slow request, and what each leaf must achieve",
  source: "fan-out lesson, both tables; exact is 1 - (1 - p)^N and 0.99^(1/N)",
  run: (options = {}) => ({
    name: "fan-out-tables",
    title: fanOutTables.title,
    columns: [
      { key: "in100", title: "1 in 100", unit: "ratio", digits: 2 },
      { key: "in1000", title: "1 in 1,000", unit: "ratio", digits: 2 },
      { key: "in10000", title: "1 in 10,000", unit: "ratio", digits: 2 },
      { key: "target", title: "leaf target for 99 %", unit: "ratio", digits: 4 },
    ],
    rows: runSamples(
      FAN_OUTS.map((leaves, at) => ({
        name: `${leaves} server${leaves === 1 ? "" : "s"}`,
        article: {
          in100: PRINTED.in100?.[at] ?? Number.NaN,
          in1000: PRINTED.in1000?.[at] ?? Number.NaN,
          in10000: PRINTED.in10000?.[at] ?? Number.NaN,
        },
        exact: {
          ...Object.fromEntries(SHARES.map(([key, share]) => [key, slowShare(share, leaves)])),
          target: 0.99 ** (1 / leaves),
        },
        sample: (seed) => {
          const rng = seededRng(seed).split(`leaves ${leaves}`);
          const trials = scaled(20_000, options.scale ?? 1);
          const slow = SHARES.map(([key, share]) => {
            let count = 0;
            for (let trial = 0; trial < trials; trial++) {
              // The first slow leaf of an endless row, in one draw: it is among these when its number is small enough.
              const first = Math.floor(Math.log(1 - rng.next()) / Math.log1p(-share));
              if (first < leaves) count++;
            }
            return [key, count / trials] as const;
          });
          return { ...Object.fromEntries(slow), target: 0.99 ** (1 / leaves) };
        },
      })),
      options,
    ),
    notes: [],
  }),
};

/** A 10 s test at 100 requests a second of a server that answers in 1 ms and stands still for a second. */
const plannedSend: BuiltInScenario = {
  name: "planned-send",
  title:
    "Latency from the actual send and from the planned send, of a server that freezes for a second",
  source: "tail latency notes; exact by arithmetic",
  isWhole: true,
  run: () => {
    const frozen = { kind: "pause", atMs: 5000, forMs: 1000 } as const;
    const planned = Array.from({ length: 1000 }, (_, i) => (i + 1) * 10);
    const open = new World({
      servers: [{ faults: [frozen] }],
      size: { kind: "constant", valueMs: 1 },
      arrivals: { kind: "trace", atMs: planned },
      requests: planned.length,
      warmUpRatio: 0,
      policy: plain({}),
    }).run();
    // A tester with one connection sends when it has the reply before, however late that is.
    let freeMs = 0;
    const actual = planned.map((atMs) => {
      const sentMs = Math.max(atMs, freeMs);
      const held = sentMs >= frozen.atMs && sentMs < frozen.atMs + frozen.forMs;
      freeMs = (held ? frozen.atMs + frozen.forMs : sentMs) + 1;
      return freeMs - sentMs;
    });
    const sorted = Float64Array.from(actual).sort();
    const late = open.latency.count - open.latency.countAtMost(100_000);
    const rows: TableRow[] = [
      {
        name: "from the actual send",
        cells: {
          p99: { value: nearestRank(sorted, 0.99), article: 1, exact: 1 },
          late: { value: actual.filter((ms) => ms > 100).length, article: 1, exact: 1 },
        },
      },
      {
        name: "from the planned send",
        cells: {
          p99: { value: open.latency.quantile(0.99) / 1000, article: 920, exact: 911 },
          late: { value: late, article: 101, exact: 101 },
        },
      },
    ];
    return {
      name: "planned-send",
      title: plannedSend.title,
      columns: [
        { key: "p99", title: "p99", unit: "ms", digits: 0 },
        { key: "late", title: "over 100 ms, of 1,000", unit: "number", digits: 0 },
      ],
      rows,
      notes: [
        "The p99 of a thousand is the 990th, 911 ms; a rule that takes the 991st prints 920, as the notes do.",
      ],
    };
  },
};

/** A leaf whose quantiles are those of one random leaf in the paper: 1, 5 and 10 ms. */
const PAPER_LEAF: Law = {
  kind: "mixture",
  parts: [
    { share: 0.9, law: { kind: "lognormal", mu: -0.13, sigma: 0.9 } },
    { share: 0.1, law: { kind: "lognormal", mu: 1.5, sigma: 0.55 } },
  ],
};
const PAPER: readonly (readonly [string, number, readonly [number, number, number]])[] = [
  ["one random leaf", 0, [1, 5, 10]],
  ["95 % of the leaves", 0.95, [12, 32, 70]],
  ["all leaves", 1, [40, 87, 140]],
];

const paperFanOut: BuiltInScenario = {
  name: "paper-fan-out-table",
  title: "Waiting for one leaf, for 95 % of the leaves and for all of them",
  source:
    "Dean and Barroso, table 1, measured at Google. Simulated: 2,000 leaves fitted to the first row, and a cause that the leaves of a request share",
  run: (options = {}) => ({
    name: "paper-fan-out-table",
    title: paperFanOut.title,
    columns: [
      { key: "p50", title: "p50", unit: "ms", digits: 1 },
      { key: "p95", title: "p95", unit: "ms", digits: 1 },
      { key: "p99", title: "p99", unit: "ms", digits: 1 },
    ],
    rows: runSamples(
      PAPER.map(([name, share, article]) => ({
        name,
        article: { p50: article[0], p95: article[1], p99: article[2] },
        sample: (seed) => paperSample(share, seed, scaled(2000, options.scale ?? 1)),
      })),
      options,
    ),
    notes: [
      "Leaves that are slow independently of each other cannot give the second row: 95 % of 2,000 would take about as long as the leaf's p95, 5 ms, every time. The leaves of one request share causes, so the real rows are further apart. The lesson holds in both: the last 5 % cost as much as all the rest.",
    ],
  }),
};

function paperSample(share: number, seed: number, trials: number): Record<string, number> {
  const leaves = 2000;
  const rng = seededRng(seed);
  const draw = compileLaw(PAPER_LEAF);
  const values = new Float64Array(share === 0 ? trials * 50 : trials);
  const leavesMs = new Float64Array(leaves);
  for (let i = 0; i < values.length; i++) {
    if (share === 0) {
      values[i] = draw(rng);
      continue;
    }
    for (let leaf = 0; leaf < leaves; leaf++) leavesMs[leaf] = draw(rng);
    leavesMs.sort();
    values[i] = nearestRank(leavesMs, share);
  }
  values.sort();
  return {
    p50: nearestRank(values, 0.5),
    p95: nearestRank(values, 0.95),
    p99: nearestRank(values, 0.99),
  };
}

const cache: BuiltInScenario = {
  name: "cache",
  title: "A cache hides the tail only while the working set fits",
  source: "fan-out lesson and tail latency notes: caches do not directly address the tail",
  run: (options = {}) => ({
    name: "cache",
    title: cache.title,
    columns: [
      { key: "hits", title: "hits", unit: "ratio", digits: 1 },
      { key: "p50", title: "request p50", unit: "ms", digits: 1 },
      { key: "p99", title: "request p99", unit: "ms", digits: 1 },
      { key: "missed", title: "requests with a miss", unit: "ratio", digits: 1 },
    ],
    rows: runSamples(
      [0.9, 1, 1.01, 1.1, 2].map((size) => {
        const hits = Math.min(1, 1 / size);
        return {
          name: `working set ${size} x the cache`,
          exact: { hits, missed: slowShare(1 - hits, 100) },
          sample: (seed) => cacheSample(size, seed, scaled(10_000, options.scale ?? 1)),
        };
      }),
      options,
    ),
    notes: [
      "A hit takes 0.5 ms, a miss the 3.7 ms of the disk, 1 % of which stall. Requests wait for 100 keys.",
    ],
  }),
};

/** Keys asked for at random, one slot for each key that the cache can hold, the one used least recently replaced. */
function cacheSample(size: number, seed: number, trials: number): Record<string, number> {
  const slots = 2000;
  const keys = Math.round(slots * size);
  const rng = seededRng(seed);
  const miss = compileLaw({
    kind: "stalls",
    law: { kind: "lognormal", mu: 1.3, sigma: 0.4 },
    share: 0.01,
    stall: { kind: "uniform", fromMs: 50, toMs: 150 },
  });
  const held = new Set<number>();
  for (let key = 0; key < Math.min(slots, keys); key++) held.add(key);
  const values = new Float64Array(trials);
  let hits = 0;
  let missed = 0;
  for (let trial = 0; trial < trials; trial++) {
    let slowest = 0;
    let misses = 0;
    for (let leaf = 0; leaf < 100; leaf++) {
      const key = rng.below(keys);
      const hit = held.delete(key);
      held.add(key);
      if (hit) hits++;
      else {
        misses++;
        if (held.size > slots) held.delete(held.values().next().value as number);
      }
      const ms = hit ? 0.5 : miss(rng);
      if (ms > slowest) slowest = ms;
    }
    values[trial] = slowest;
    if (misses > 0) missed++;
  }
  values.sort();
  return {
    hits: hits / (trials * 100),
    p50: nearestRank(values, 0.5),
    p99: nearestRank(values, 0.99),
    missed: missed / trials,
  };
}

export const arithmeticScenarios: readonly BuiltInScenario[] = [
  fanOutTables,
  plannedSend,
  paperFanOut,
  cache,
];
