import {
  expectedMax,
  expectedMaxExponential,
  exponentialLaw,
  fanOutQuantile,
  leafQuantile,
  medianFanOut,
  slowRequestShare,
} from "bobtail/plan";
import type { VerifyRow } from "./verify-row.ts";

const FAN_OUTS = [1, 10, 50, 100, 500, 2_000] as const;

/** Share of slow requests in percent, as the table prints it: one slow call in 100, 1,000 and 10,000. */
const SLOW_PERCENT: readonly (readonly [number, readonly number[]])[] = [
  [0.01, [1.0, 9.56, 39.5, 63.4, 99.34, 100.0]],
  [0.001, [0.1, 1.0, 4.88, 9.52, 39.36, 86.48]],
  [0.0001, [0.01, 0.1, 0.5, 1.0, 4.88, 18.13]],
];

/** Share of a leaf's calls that must be fast, in percent. */
const LEAF_PERCENT = [99.0, 99.8995, 99.9799, 99.99, 99.998, 99.9995] as const;

const DEAN = "Dean & Barroso, The Tail at Scale, 2013";

export const fanOutRows: readonly VerifyRow[] = [
  {
    row: 29,
    fact: "mean of the largest of 100 exponentials",
    source: "H_100",
    expected: 5.187,
    tolerance: { kind: "relative", ratio: 0.005 },
    compute: () => expectedMaxExponential(100, { meanMs: 1 }),
  },
  {
    row: 29,
    fact: "the same by quadrature",
    source: "H_100",
    expected: 5.187,
    tolerance: { kind: "relative", ratio: 0.005 },
    compute: () => expectedMax(exponentialLaw(1), 100),
  },
  {
    row: 29,
    fact: "p99 of the largest of 100 exponentials",
    source: "H_100",
    expected: 9.205,
    tolerance: { kind: "relative", ratio: 0.005 },
    compute: () => fanOutQuantile(exponentialLaw(1), { fanOut: 100, quantile: 0.99 }),
  },
  ...SLOW_PERCENT.flatMap(([slowShare, percents]) =>
    percents.map(
      (percent, i): VerifyRow => ({
        row: 30,
        fact: `% slow requests of ${FAN_OUTS[i]} leaves, ${slowShare * 100} % slow calls`,
        source: DEAN,
        expected: percent,
        tolerance: { kind: "absolute", width: 0.005 + 1e-9 },
        compute: () => slowRequestShare(slowShare, FAN_OUTS[i] as number) * 100,
      }),
    ),
  ),
  ...LEAF_PERCENT.map(
    (percent, i): VerifyRow => ({
      row: 30,
      fact: `% fast calls of a leaf, ${FAN_OUTS[i]} leaves, 99 % fast requests`,
      source: DEAN,
      expected: percent,
      tolerance: { kind: "absolute", width: 0.00005 + 1e-9 },
      compute: () => leafQuantile(0.99, FAN_OUTS[i] as number) * 100,
    }),
  ),
  {
    row: 55,
    fact: "leaves at which their p99 is the request's median",
    source: "ln 2 / -ln 0.99",
    expected: 69,
    tolerance: { kind: "exact" },
    compute: () => Math.round(medianFanOut(0.99)),
  },
  {
    row: 55,
    fact: "leaves at which their p99.9 is the request's median",
    source: "ln 2 / -ln 0.999",
    expected: 693,
    tolerance: { kind: "exact" },
    compute: () => Math.round(medianFanOut(0.999)),
  },
];
