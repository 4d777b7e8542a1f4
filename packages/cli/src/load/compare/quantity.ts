/** What two sides are compared by, in the order of reports. */
export const QUANTITY_NAMES = ["p50", "p90", "p99", "p99.9", "errors", "rate"] as const;
export type QuantityName = (typeof QUANTITY_NAMES)[number];

export interface Quantity {
  readonly name: QuantityName;
  /** Percentiles in ms, shares in [0, 1] and answers a second. */
  readonly unit: "ms" | "share" | "per-second";
  /**
   * `ratio`: B in parts of A, since what makes a service slower multiplies its times and the spread between runs grows with
   * them. `difference`: B - A, since a share may be 0.
   */
  readonly scale: "ratio" | "difference";
  /** Which way is worse: 1 upwards, -1 downwards. */
  readonly worse: 1 | -1;
  /** Of percentiles. */
  readonly quantile?: number;
}

const LATENCY = { unit: "ms", scale: "ratio", worse: 1 } as const;

export const QUANTITIES: Readonly<Record<QuantityName, Quantity>> = {
  p50: { name: "p50", ...LATENCY, quantile: 0.5 },
  p90: { name: "p90", ...LATENCY, quantile: 0.9 },
  p99: { name: "p99", ...LATENCY, quantile: 0.99 },
  "p99.9": { name: "p99.9", ...LATENCY, quantile: 0.999 },
  errors: { name: "errors", unit: "share", scale: "difference", worse: 1 },
  rate: { name: "rate", unit: "per-second", scale: "ratio", worse: -1 },
};

/**
 * One run in figures. Percentiles are in ms and over all planned requests; Infinity where they lie among requests that failed or
 * were given up. Undefined: the run is too small for it. Never NaN.
 */
export type RunFigures = Readonly<Record<QuantityName, number | undefined>>;
