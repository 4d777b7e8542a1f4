import {
  choicesQuantile,
  exceedanceThreshold,
  maskedDeviation,
  meanSojourn,
  retryAmplification,
  throttleFailureRatio,
} from "bobtail/plan";
import type { VerifyRow } from "./verify-row.ts";

const BACKENDS = 10;
const WORKERS = 4;
const SERVICE_MS = 10;
const SLOWDOWN = 5;
const LOAD_RATIO = 0.7;

/** Requests a second of one healthy backend, of the slow one, and of all. */
const healthyPerSecond: number = (WORKERS * 1_000) / SERVICE_MS;
const slowPerSecond: number = healthyPerSecond / SLOWDOWN;
const fleetPerSecond: number = (BACKENDS - 1) * healthyPerSecond + slowPerSecond;
const arrivalsPerBackend: number = (LOAD_RATIO * fleetPerSecond) / BACKENDS;

export const queueRows: readonly VerifyRow[] = [
  {
    row: 42,
    fact: "% of the fleet's capacity in one backend of ten that is five times slower",
    source: "arithmetic",
    expected: 2.174,
    tolerance: { kind: "absolute", width: 0.0005 },
    compute: () => (slowPerSecond / fleetPerSecond) * 100,
  },
  {
    row: 42,
    fact: "% of requests that round robin loses at it, at 70 % load",
    source: "arithmetic",
    expected: 6.894,
    tolerance: { kind: "absolute", width: 0.1 },
    compute: () => ((arrivalsPerBackend - slowPerSecond) / (arrivalsPerBackend * BACKENDS)) * 100,
  },
  {
    row: 43,
    fact: "mean of a healthy backend (M/M/4) under random balancing, ms",
    source: "Erlang C",
    expected: 12.43,
    tolerance: { kind: "relative", ratio: 0.01 },
    compute: () =>
      SERVICE_MS *
      meanSojourn({ loadRatio: arrivalsPerBackend / healthyPerSecond, workers: WORKERS }),
  },
  {
    row: 45,
    fact: "deviations from the mean of three equally bad hosts of ten (a rule of 1.9 ejects none)",
    source: "sqrt((n - b) / b)",
    expected: 1.53,
    tolerance: { kind: "absolute", width: 0.005 },
    compute: () => maskedDeviation(10, 3),
  },
  ...[
    [50, 13],
    [100, 19],
    [200, 28],
    [500, 52],
  ].map(
    ([samples = 0, threshold = 0]): VerifyRow => ({
      row: 46,
      fact: `requests of ${samples} beyond the peers' p95 that chance does not explain (1e-6)`,
      source: "binomial",
      expected: threshold,
      tolerance: { kind: "exact" },
      compute: () => exceedanceThreshold({ samples }),
    }),
  ),
  {
    row: 52,
    fact: "% failures at which a bucket of ratio 0.1 stands still",
    source: "gRFC A6",
    expected: 9.09,
    tolerance: { kind: "absolute", width: 0.2 },
    compute: () => throttleFailureRatio(0.1) * 100,
  },
  {
    row: 54,
    fact: "requests from one, three tries at each of five layers",
    source: "arithmetic",
    expected: 243,
    tolerance: { kind: "exact" },
    compute: () => retryAmplification(3, 5),
  },
  ...[
    [1, 46.05],
    [2, 8.79],
    [3, 7.31],
  ].map(
    ([choices = 1, p99 = 0]): VerifyRow => ({
      row: 56,
      fact: `p99 at load 0.9 with ${choices} choice${choices === 1 ? "" : "s"}, endlessly many servers`,
      source: "supermarket law",
      expected: p99,
      tolerance: { kind: "relative", ratio: 0.02 },
      compute: () => choicesQuantile({ loadRatio: 0.9, choices }, 0.99),
    }),
  ),
];
