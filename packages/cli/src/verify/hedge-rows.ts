import { type Rng, seededRng } from "bobtail/engine";
import {
  bothSlowShare,
  commonShockShare,
  criticalLoad,
  type Empirical,
  empirical,
  empiricalFromLaw,
  exponentialLaw,
  exponentialSingleR,
  hedgedCommonShockShare,
  orderStatisticRanks,
  type ReissuePolicy,
  singleD,
  singleR,
  slowRequestShare,
} from "bobtail/plan";
import type { VerifyRow } from "./verify-row.ts";

const KALER = "Kaler, He & Elnikety, SPAA 2017";

/** Fractions of a point: the tables print percent. */
const point = (width: number) => ({ kind: "absolute", width }) as const;

function searched(): ReissuePolicy {
  const primary = empiricalFromLaw(exponentialLaw(1), 20_000);
  return singleR({ primary, quantile: 0.95, budgetRatio: 0.1 });
}

export const hedgeRows: readonly VerifyRow[] = [
  ...singleRRows(),
  {
    row: 34,
    fact: "SingleR <= SingleD <= no reissue: breaches in 600 random logs, quantiles and budgets",
    source: "theorem",
    expected: 0,
    tolerance: { kind: "exact" },
    compute: orderingBreaches,
  },
  ...[
    [0.3, 0.5615],
    [0.5, 0.6153],
    [0.6, 0.6543],
    [0.7, 0.7045],
    [0.8, 0.77],
  ].map(
    ([base = 0, critical = 0]): VerifyRow => ({
      row: 38,
      fact: `critical load of an unguarded hedge at the p95 of load ${base}`,
      source: "mean field, x + ln x = d - 1",
      expected: critical,
      tolerance: point(1e-3),
      compute: () => criticalLoad({ delay: Math.log(20) / (1 - base) }),
    }),
  ),
  ...[
    [0, 63.4],
    [0.001, 59.6],
    [0.005, 39.9],
    [0.01, 1],
  ].map(
    ([shock = 0, percent = 0]): VerifyRow => ({
      row: 39,
      fact: `% slow requests, 1 % slow calls, 100 leaves, a common shock of ${shock * 100} %`,
      source: "1 - (1 - p_c)(1 - p_i)^N",
      expected: percent,
      tolerance: point(0.5),
      compute: () => commonShockShare({ slowShare: 0.01, shockShare: shock, fanOut: 100 }) * 100,
    }),
  ),
  ...[
    [0, 1],
    [0.001, 0.91],
    [0.005, 0.75],
    [0.01, 1],
  ].map(
    ([shock = 0, percent = 0]): VerifyRow => ({
      row: 39,
      fact: `% slow requests after an ideal hedge, a common shock of ${shock * 100} %`,
      source: "1 - (1 - p_c)(1 - p_i^2)^N",
      expected: percent,
      tolerance: point(0.01),
      compute: () =>
        hedgedCommonShockShare({ slowShare: 0.01, shockShare: shock, fanOut: 100 }) * 100,
    }),
  ),
  ...[
    [0, 1],
    [0.05, 5.8],
    [0.1, 10.3],
    [0.25, 22.7],
    [0.5, 39.7],
    [1, 63.4],
  ].map(
    ([correlation = 0, percent = 0]): VerifyRow => ({
      row: 40,
      fact: `% slow requests after hedging, replica correlation ${correlation}`,
      source: "p (r + (1 - r) p)",
      expected: percent,
      tolerance: point(0.3),
      compute: () => slowRequestShare(bothSlowShare(0.01, correlation), 100) * 100,
    }),
  ),
  {
    row: 41,
    fact: "% of 1,000 intervals of p99.99 from a million that hold the truth",
    source: "binomial",
    expected: 95,
    tolerance: point(2),
    compute: () => intervalCoverage(1_000_000, 0.9999) * 100,
  },
];

function singleRRows(): VerifyRow[] {
  const near = (ratio: number) => ({ kind: "relative", ratio }) as const;
  const row = { row: 33, source: KALER } as const;
  const closed = () => exponentialSingleR(0.95, 0.1);
  const what = "SingleR, exponential, p95 at 10 % extra";
  return [
    {
      ...row,
      fact: `${what}: latency`,
      expected: 2.59,
      tolerance: near(0.01),
      compute: () => closed().latency,
    },
    {
      ...row,
      fact: `${what}: delay`,
      expected: 1.897,
      tolerance: near(0.03),
      compute: () => closed().delay,
    },
    {
      ...row,
      fact: `${what}: probability`,
      expected: 0.667,
      tolerance: near(0.03),
      compute: () => closed().probability,
    },
    {
      ...row,
      fact: `${what}: latency by search`,
      expected: 2.59,
      tolerance: near(0.01),
      compute: () => searched().latencyMs,
    },
    {
      ...row,
      fact: `${what}: delay by search`,
      expected: 1.897,
      tolerance: near(0.03),
      compute: () => searched().delayMs,
    },
    {
      ...row,
      fact: `${what}: probability by search`,
      expected: 0.667,
      tolerance: near(0.03),
      compute: () => searched().probability,
    },
  ];
}

/** Logs with ties, stalls and steps, of 20 to 420 latencies. */
function orderingBreaches(): number {
  const rng = seededRng(34);
  let breaches = 0;
  for (let run = 0; run < 600; run++) {
    const primary = randomLog(rng, 20 + rng.below(400));
    const quantile = 0.5 + 0.499 * rng.next();
    const search = { primary, quantile, budgetRatio: rng.next() * (run % 2 === 0 ? 0.1 : 1) };
    const alone = primary.quantile(quantile);
    const delayOnly = singleD(search).latencyMs;
    const withCoin = singleR(search).latencyMs;
    if (withCoin > delayOnly || delayOnly > alone) breaches++;
  }
  return breaches;
}

function randomLog(rng: Rng, size: number): Empirical {
  const grain = rng.next() < 0.5 ? 1 : 0.001;
  const stallRatio = 0.2 * rng.next();
  return empirical(
    Array.from({ length: size }, () => {
      const ms = -5 * Math.log(1 - rng.next()) + (rng.next() < stallRatio ? 80 * rng.next() : 0);
      return Math.round(ms / grain) * grain;
    }),
  );
}

/**
 * How often the interval holds the true quantile. Whether it does hangs on how many samples lie beyond the truth, and on
 * nothing else: only their places are drawn, gap by gap.
 */
function intervalCoverage(count: number, quantile: number): number {
  const rng = seededRng(41);
  const { low, high } = orderStatisticRanks({ count, quantile });
  const upper = high ?? count + 1;
  const logMiss = Math.log(quantile);
  const runs = 1_000;
  let held = 0;
  for (let run = 0; run < runs; run++) {
    let beyond = -1;
    for (let at = 0; at <= count; beyond++)
      at += 1 + Math.floor(Math.log(1 - rng.next()) / logMiss);
    const within = count - beyond;
    // The sample of rank `low` is at most the truth, that of rank `high` above it.
    if (low <= within && within < upper) held++;
  }
  return held / runs;
}
