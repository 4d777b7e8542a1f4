import { nearestRank } from "../sampled-fan-out.ts";
import { harmonic } from "../theory.ts";
import {
  INTERFERED_LEAF,
  type LeafSampling,
  STALLING_LEAF,
  sampleLeaves,
} from "./leaf-sampling.ts";
import {
  type BuiltInScenario,
  type Column,
  EXTRA_COLUMN,
  runSamples,
  type ScenarioRunOptions,
  scaled,
  type TableRow,
} from "./scenario-table.ts";

const P50: Column = { key: "p50", title: "request p50", unit: "ms", digits: 1 };
const P99: Column = { key: "p99", title: "request p99", unit: "ms", digits: 1 };
const COLUMNS: readonly Column[] = [P50, P99, EXTRA_COLUMN];

function leafRows(
  rows: readonly {
    readonly name: string;
    readonly sampling: Omit<LeafSampling, "seed">;
    readonly article?: Readonly<Record<string, number>>;
    readonly exact?: Readonly<Record<string, number>>;
  }[],
  options: ScenarioRunOptions,
): TableRow[] {
  return runSamples(
    rows.map(({ name, sampling, article, exact }) => ({
      name,
      article,
      exact,
      sample: (seed) => {
        const trials = scaled(sampling.trials, options.scale ?? 1);
        const { latenciesMs, extraRatio } = sampleLeaves({ ...sampling, trials, seed });
        return {
          p50: nearestRank(latenciesMs, 0.5),
          p99: nearestRank(latenciesMs, 0.99),
          extra: extraRatio,
        };
      },
    })),
    options,
  );
}

const hedgedFanOut: BuiltInScenario = {
  name: "hedged-fan-out",
  title: "Requests of 100 leaves, 1 % of which stall: no hedge, after p95, after 10 ms",
  source: "balancing article, part 2; exact by numeric integration",
  run: (options = {}) => {
    const sampling = { leaf: STALLING_LEAF, trials: 20_000 };
    return {
      name: "hedged-fan-out",
      title: hedgedFanOut.title,
      columns: COLUMNS,
      rows: leafRows(
        [
          {
            name: "no hedging",
            sampling,
            article: { p50: 84.7, p99: 153.3, extra: 0 },
            exact: { p50: 84.9, p99: 153.25, extra: 0 },
          },
          {
            name: "hedge after p95 (7.4 ms)",
            sampling: { ...sampling, delayMs: 7.377 },
            article: { p50: 11.0, p99: 22.4, extra: 0.05 },
            exact: { p50: 10.96, p99: 24.79, extra: 0.05 },
          },
          {
            name: "hedge after 10 ms",
            sampling: { ...sampling, delayMs: 10 },
            article: { p50: 13.2, p99: 25.6, extra: 0.016 },
            exact: { p50: 13.17, p99: 27.39, extra: 0.016 },
          },
        ],
        options,
      ),
      notes: [
        "The hedged p99 stand on a cliff: 0.995 % of requests have a leaf that stalls twice, so a seed may print 20 ms or 65 ms. The article's 22.4 and 25.6 are such draws; `golden-fan-out` repeats them.",
      ],
    };
  },
};

const slowKey: BuiltInScenario = {
  name: "slow-key",
  title: "The same, and 0.5 % of leaves slow on every replica: a slow key, not a slow machine",
  source: "balancing article, exercise 4",
  run: (options = {}) => {
    const shared = { share: 0.005, law: { kind: "uniform", fromMs: 50, toMs: 150 } as const };
    const sampling = { leaf: STALLING_LEAF, trials: 20_000, shared };
    const name = "slow-key";
    return {
      name,
      title: slowKey.title,
      columns: COLUMNS,
      rows: leafRows(
        [
          { name: "no hedging", sampling },
          { name: "hedge after 7.4 ms", sampling: { ...sampling, delayMs: 7.377 } },
          { name: "hedge after 10 ms", sampling: { ...sampling, delayMs: 10 } },
          {
            name: "hedge after 10 ms, no slow keys",
            sampling: { ...sampling, delayMs: 10, shared: undefined },
          },
        ],
        options,
      ),
      notes: [
        "A request of 100 leaves has a slow key with probability 39 %. No hedge helps those; each slow key adds its own copy to the load.",
      ],
    };
  },
};

const hedgeDelays: BuiltInScenario = {
  name: "hedge-delays",
  title: "Hedge delays from the leaf's p50 to its p99, and slowness that replicas share",
  source: "fan-out lesson, hedge table; exact by numeric integration",
  run: (options = {}) => {
    const sampling = { leaf: INTERFERED_LEAF, trials: 20_000 };
    const row = (
      name: string,
      delayMs: number | undefined,
      article: readonly [number, number, number],
      exact: readonly [number, number, number],
    ) => ({
      name,
      sampling: { ...sampling, delayMs, sameCause: name.includes("shared") },
      article: { extra: article[0], p50: article[1], p99: article[2] },
      exact: { extra: exact[0], p50: exact[1], p99: exact[2] },
    });
    return {
      name: "hedge-delays",
      title: hedgeDelays.title,
      columns: COLUMNS,
      rows: leafRows(
        [
          row("no hedging", undefined, [0, 63.4, 84.9], [0, 63.53, 85.14]),
          row("after p50 (4.0 ms)", 4.036, [0.502, 9.2, 53.9], [0.5, 9.23, 56.13]),
          row("after p90 (6.5 ms)", 6.516, [0.1, 11.3, 55.5], [0.1, 11.29, 57.26]),
          row("after p95 (7.7 ms)", 7.702, [0.05, 12.4, 57.8], [0.05, 12.41, 57.78]),
          row("after p99 (54.3 ms)", 54.25, [0.009, 59.2, 68.9], [0.01, 57.36, 69.24]),
          row("after p95, slowness shared", 7.702, [0.05, 63.4, 84.9], [0.05, 63.53, 85.14]),
        ],
        options,
      ),
      notes: [
        "The article's delays come from a sample of 50,000: its p99 of 56.3 ms is 54.3 in truth. `golden-hedge-delays` repeats its table.",
      ],
    };
  },
};

const slowestOf: BuiltInScenario = {
  name: "slowest-of-many",
  title: "The slowest of N exponential leaves",
  source: "order statistics: the mean is the N-th harmonic number",
  run: (options = {}) => ({
    name: "slowest-of-many",
    title: slowestOf.title,
    columns: [{ key: "mean", title: "mean", unit: "ms", digits: 3 }, P50, P99],
    rows: runSamples(
      [10, 100, 500].map((leaves) => ({
        name: `${leaves} leaves of 1 ms`,
        exact: {
          mean: harmonic(leaves),
          p50: -Math.log1p(-(0.5 ** (1 / leaves))),
          p99: -Math.log1p(-(0.99 ** (1 / leaves))),
        },
        sample: (seed) => {
          const trials = scaled(40_000, options.scale ?? 1);
          const leaf = { kind: "exponential", meanMs: 1 } as const;
          const { latenciesMs } = sampleLeaves({ leaf, trials, leaves, seed });
          return {
            mean: latenciesMs.reduce((sum, ms) => sum + ms, 0) / trials,
            p50: nearestRank(latenciesMs, 0.5),
            p99: nearestRank(latenciesMs, 0.99),
          };
        },
      })),
      options,
    ),
    notes: [],
  }),
};

export const fanOutScenarios: readonly BuiltInScenario[] = [
  hedgedFanOut,
  slowKey,
  hedgeDelays,
  slowestOf,
];
