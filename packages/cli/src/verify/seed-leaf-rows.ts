import {
  hedgedRequestLaw,
  type LatencyLaw,
  latencyQuantile,
  lognormalLaw,
  meanOfLaw,
  stalledLaw,
  uniformLaw,
} from "bobtail/plan";
import type { VerifyRow } from "./verify-row.ts";

/** LN(1.3, 0.4) and 1 % of 50 to 150 ms. */
const balancingLeaf: LatencyLaw = stalledLaw(
  lognormalLaw({ medianMs: Math.exp(1.3), sigma: 0.4 }),
  { ratio: 0.01, fromMs: 50, toMs: 150 },
);
/** LN(ln 4, 0.35) and 2 % of 20 to 80 ms. */
const hedgingLeaf: LatencyLaw = stalledLaw(lognormalLaw({ medianMs: 4, sigma: 0.35 }), {
  ratio: 0.02,
  fromMs: 20,
  toMs: 80,
});
/** 5 to 15 ms and 1 % of one second. */
const measuringLeaf: LatencyLaw = stalledLaw(uniformLaw({ fromMs: 5, toMs: 15 }), {
  ratio: 0.01,
  fromMs: 1_000,
  toMs: 1_000,
});

interface Figures {
  readonly leaf: string;
  readonly law: LatencyLaw;
  readonly quantiles: readonly (readonly [quantile: number, ms: number])[];
  /** Requests of 100 leaves: what is hedged after how long, and its percentiles. */
  readonly requests: readonly RequestFigure[];
}

interface RequestFigure {
  readonly hedge: string;
  /** A quantile of the leaf, or ms. */
  readonly after: { readonly quantile: number } | { readonly ms: number } | undefined;
  readonly replicaCorrelation?: number;
  readonly extraPercent?: number;
  readonly percentiles: readonly (readonly [quantile: number, ms: number])[];
}

const FIGURES: readonly Figures[] = [
  {
    leaf: "LN(1.3, 0.4) + 1 % U(50, 150)",
    law: balancingLeaf,
    quantiles: [
      [0.5, 3.688],
      [0.9, 6.259],
      [0.95, 7.377],
      [0.99, 50.63],
      [0.9999, 153.26],
    ],
    requests: [
      {
        hedge: "no hedge",
        after: undefined,
        percentiles: [
          [0.5, 84.9],
          [0.99, 153.25],
          [0.999, 156.6],
        ],
      },
      {
        hedge: "hedge at p95",
        after: { quantile: 0.95 },
        extraPercent: 5,
        percentiles: [
          [0.5, 10.96],
          [0.99, 24.79],
          [0.999, 125.8],
        ],
      },
      {
        hedge: "hedge at 10 ms",
        after: { ms: 10 },
        extraPercent: 1.6,
        percentiles: [
          [0.5, 13.17],
          [0.99, 27.39],
          [0.999, 127],
        ],
      },
    ],
  },
  {
    leaf: "LN(ln 4, 0.35) + 2 % U(20, 80)",
    law: hedgingLeaf,
    quantiles: [
      [0.5, 4.036],
      [0.9, 6.516],
      [0.95, 7.702],
      [0.99, 54.25],
      [0.9999, 85.14],
    ],
    requests: [
      {
        hedge: "no hedge",
        after: undefined,
        percentiles: [
          [0.5, 63.53],
          [0.99, 85.14],
        ],
      },
      {
        hedge: "hedge at p50",
        after: { quantile: 0.5 },
        extraPercent: 50,
        percentiles: [
          [0.5, 9.23],
          [0.99, 56.13],
        ],
      },
      {
        hedge: "hedge at p90",
        after: { quantile: 0.9 },
        extraPercent: 10,
        percentiles: [
          [0.5, 11.29],
          [0.99, 57.26],
        ],
      },
      {
        hedge: "hedge at p95",
        after: { quantile: 0.95 },
        extraPercent: 5,
        percentiles: [
          [0.5, 12.41],
          [0.99, 57.78],
        ],
      },
      {
        hedge: "hedge at p99",
        after: { quantile: 0.99 },
        extraPercent: 1,
        percentiles: [
          [0.5, 57.36],
          [0.99, 69.24],
        ],
      },
      {
        hedge: "hedge at p95, slowness shared",
        after: { quantile: 0.95 },
        replicaCorrelation: 1,
        extraPercent: 5,
        percentiles: [
          [0.5, 63.53],
          [0.99, 85.14],
        ],
      },
    ],
  },
  {
    leaf: "U(5, 15) + 1 % of 1000",
    law: measuringLeaf,
    quantiles: [
      [0.95, 14.596],
      [0.999, 1014],
    ],
    requests: [
      {
        hedge: "no hedge",
        after: undefined,
        percentiles: [
          [0.5, 1008.09],
          [0.99, 1014.9],
        ],
      },
    ],
  },
];

export const seedLeafRows: readonly VerifyRow[] = [
  ...FIGURES.flatMap(rowsOf),
  ...secondStallRows(),
];

function rowsOf(figures: Figures): VerifyRow[] {
  const { leaf, law } = figures;
  const base = {
    row: 32,
    source: "numeric integration",
    tolerance: { kind: "relative", ratio: 0.01 },
  } as const;
  const ofLeaf = figures.quantiles.map(
    ([quantile, ms]): VerifyRow => ({
      ...base,
      fact: `${leaf}: ${percentile(quantile)} of a leaf, ms`,
      expected: ms,
      compute: () => latencyQuantile(law, quantile),
    }),
  );
  const ofRequests = figures.requests.flatMap((figure): VerifyRow[] => {
    const rows = figure.percentiles.map(
      ([quantile, ms]): VerifyRow => ({
        ...base,
        fact: `${leaf}: ${figure.hedge}, ${percentile(quantile)} of 100 leaves, ms`,
        expected: ms,
        compute: () => latencyQuantile(requestLaw(law, figure), quantile),
      }),
    );
    if (figure.extraPercent === undefined) return rows;
    return [
      ...rows,
      {
        ...base,
        fact: `${leaf}: ${figure.hedge}, % extra calls`,
        expected: figure.extraPercent,
        compute: () => law.survival(delayOf(law, figure)) * 100,
      },
    ];
  });
  return [...ofLeaf, ...ofRequests];
}

function requestLaw(law: LatencyLaw, figure: RequestFigure): LatencyLaw {
  return hedgedRequestLaw(law, {
    fanOut: 100,
    delayMs: delayOf(law, figure),
    replicaCorrelation: figure.replicaCorrelation,
  });
}

function delayOf(law: LatencyLaw, { after }: RequestFigure): number {
  if (after === undefined) return Number.POSITIVE_INFINITY;
  return "ms" in after ? after.ms : latencyQuantile(law, after.quantile);
}

/** The hedged identity S(t) S(t - d), where the second copy stalls too. */
function secondStallRows(): VerifyRow[] {
  const hedged: RequestFigure = { hedge: "", after: { quantile: 0.95 }, percentiles: [] };
  const row = { row: 31, source: "S(t) S(t - d)" } as const;
  const near = { kind: "relative", ratio: 0.005 } as const;
  return [
    {
      ...row,
      fact: "U(5, 15) + 1 % of 1000, hedge at p95: p50 of 100 leaves, ms",
      expected: 22.72,
      tolerance: near,
      compute: () => latencyQuantile(requestLaw(measuringLeaf, hedged), 0.5),
    },
    {
      // At the edge of the second stall: 0.995 % of the requests are beyond it.
      ...row,
      fact: "the same: p99, ms",
      expected: 29.6,
      tolerance: near,
      compute: () => latencyQuantile(requestLaw(measuringLeaf, hedged), 0.99),
    },
    {
      ...row,
      fact: "the same: % of requests over one second",
      expected: 0.995,
      tolerance: { kind: "relative", ratio: 0.05 },
      compute: () => requestLaw(measuringLeaf, hedged).survival(1_000) * 100,
    },
    {
      row: 32,
      source: "numeric integration",
      fact: "U(5, 15) + 1 % of 1000: mean of a leaf, ms",
      expected: 20,
      tolerance: { kind: "relative", ratio: 0.01 },
      compute: () => meanOfLaw(measuringLeaf),
    },
  ];
}

function percentile(quantile: number): string {
  return `p${Number((quantile * 100).toPrecision(6))}`;
}
