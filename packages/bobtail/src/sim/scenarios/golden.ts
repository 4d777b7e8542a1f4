import { articleBalancing, articlePolicies } from "../golden/article-balancing.ts";
import { articleBudget } from "../golden/article-budget.ts";
import { articleFanOut, articleHedgeDelays } from "../golden/article-fan-out.ts";
import {
  type BuiltInScenario,
  EXTRA_COLUMN,
  FAILED_COLUMN,
  LATENCY_COLUMNS,
  type TableRow,
} from "./scenario-table.ts";

const P50 = { key: "p50", title: "request p50", unit: "ms", digits: 1 } as const;
const P99 = { key: "p99", title: "request p99", unit: "ms", digits: 1 } as const;
const SEEDED = "One run of the published program's own chance; runs, seed and scale do not apply.";

function row(name: string, cells: Readonly<Record<string, number>>): TableRow {
  return {
    name,
    cells: Object.fromEntries(Object.entries(cells).map(([key, value]) => [key, { value }])),
  };
}

const balancing: BuiltInScenario = {
  name: "golden-balancing",
  title: "The six policies of the balancing article, draw for draw",
  source: "balancing article, part 1: every printed digit",
  isWhole: true,
  run: (options = {}) => ({
    name: "golden-balancing",
    title: balancing.title,
    columns: [
      ...LATENCY_COLUMNS,
      FAILED_COLUMN,
      { key: "toSlow", title: "to backend 0", unit: "ratio", digits: 1 },
    ],
    rows: articlePolicies.map((policy, i) => {
      const r = articleBalancing(policy);
      options.onProgress?.((i + 1) / articlePolicies.length);
      return row(policy.name, {
        p50: r.p50Ms,
        p99: r.p99Ms,
        p999: r.p999Ms,
        failed: r.timedOutRatio,
        toSlow: r.toSlowRatio,
      });
    }),
    notes: [
      SEEDED,
      "Picks are our balancers' through the call machine. The backends, which refuse on arrival what would wait for over a second, and the order of draws are the article's program re-expressed.",
    ],
  }),
};

const fanOut: BuiltInScenario = {
  name: "golden-fan-out",
  title: "The hedged fan-out of the balancing article, draw for draw",
  source: "balancing article, part 2: every printed digit",
  isWhole: true,
  run: () => ({
    name: "golden-fan-out",
    title: fanOut.title,
    columns: [P50, P99, EXTRA_COLUMN],
    rows: articleFanOut().rows.map((r) =>
      row(r.name, { p50: r.p50Ms, p99: r.p99Ms, extra: r.extraRatio }),
    ),
    notes: [
      SEEDED,
      "The article's program re-expressed. Its hedged p99 are lucky draws: twenty other seeds give 41 ms on average, from 20 to 65.",
    ],
  }),
};

const hedgeDelays: BuiltInScenario = {
  name: "golden-hedge-delays",
  title: "The hedge delays of the fan-out lesson, draw for draw",
  source: "fan-out lesson, hedge table: every printed digit",
  isWhole: true,
  run: () => ({
    name: "golden-hedge-delays",
    title: hedgeDelays.title,
    columns: [EXTRA_COLUMN, P50, P99],
    rows: articleHedgeDelays().rows.map((r) =>
      row(r.name, { extra: r.extraRatio, p50: r.p50Ms, p99: r.p99Ms }),
    ),
    notes: [SEEDED, "The lesson's program re-expressed."],
  }),
};

const budget: BuiltInScenario = {
  name: "golden-budget",
  title: "The budgeted hedger of the fan-out lesson, draw for draw",
  source: "fan-out lesson, budget program: every printed digit",
  isWhole: true,
  run: () => ({
    name: "golden-budget",
    title: budget.title,
    columns: [P99, { key: "load", title: "load", unit: "number", digits: 2 }],
    rows: articleBudget().map((r) =>
      row(`${r.phase}, ${r.name}`, { p99: r.p99Ms, load: r.loadFactor }),
    ),
    notes: [
      SEEDED,
      "The lesson's calls, paid by our budget: it earns with every call here, not with every success.",
    ],
  }),
};

export const goldenScenarios: readonly BuiltInScenario[] = [balancing, fanOut, hedgeDelays, budget];
