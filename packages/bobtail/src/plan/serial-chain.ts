import { checkOption } from "../core/errors.ts";
import type { Empirical } from "./empirical.ts";
import { empiricalFromWeights } from "./empirical-sources.ts";

export interface SerialOptions {
  /** Grid points per factor of ten; in [20, 2000], default 200: a value is off by 0.6 % of itself at most. */
  readonly pointsPerDecade?: number | undefined;
}

/** A grid of more points would be a mistake of unit. */
const MAX_POINTS = 20_000;

/**
 * Calls one after another: the law of the sum of independent latencies. Percentiles do not add, laws convolve.
 *
 * The sum is built stage by stage on a logarithmic grid; each product is shared between the two grid points round
 * it so that the mean is kept. O(stages x points^2).
 * Throws `ERR_BOBTAIL_OPTION` without a stage.
 */
export function serialChain(stages: readonly Empirical[], options: SerialOptions = {}): Empirical {
  const { pointsPerDecade = 200 } = options;
  checkOption({ stages: stages.length }, "at least one stage", stages.length > 0);
  const ok = pointsPerDecade >= 20 && pointsPerDecade <= 2_000;
  checkOption({ pointsPerDecade }, "a number in [20, 2000]", ok);
  const grid = logGrid(stages, pointsPerDecade);
  let sum = massOn(grid, stages[0] as Empirical);
  for (const stage of stages.slice(1)) sum = convolve(grid, sum, massOn(grid, stage));
  const points = Array.from(grid.valuesMs, (latencyMs, i) => ({
    latencyMs,
    weight: sum[i] as number,
  })).filter((point) => point.weight > 0);
  const known = points.reduce((total, point) => total + point.weight, 0);
  const count = Math.min(...stages.map((stage) => stage.count));
  return empiricalFromWeights(points, { count, beyond: Math.max(0, 1 - known - 1e-12) });
}

interface Grid {
  /** 0, then a geometric series. */
  readonly valuesMs: Float64Array;
  readonly logStep: number;
  readonly logFirst: number;
}

function logGrid(stages: readonly Empirical[], pointsPerDecade: number): Grid {
  let smallest = Number.POSITIVE_INFINITY;
  let largest = 0;
  for (const { valuesMs, maxMs } of stages) {
    const first = valuesMs.find((value) => value > 0);
    if (first !== undefined) smallest = Math.min(smallest, first);
    largest += maxMs;
  }
  if (largest === 0) return { valuesMs: new Float64Array([0]), logStep: 1, logFirst: 0 };
  const logStep = Math.LN10 / pointsPerDecade;
  const count = Math.ceil(Math.log(largest / smallest) / logStep) + 2;
  checkOption({ stages: count }, `a grid of at most ${MAX_POINTS} points`, count <= MAX_POINTS);
  const valuesMs: Float64Array = new Float64Array(count + 1);
  for (let i = 0; i < count; i++) valuesMs[i + 1] = smallest * Math.exp(i * logStep);
  return { valuesMs, logStep, logFirst: Math.log(smallest) };
}

function massOn(grid: Grid, law: Empirical): Float64Array {
  const mass: Float64Array = new Float64Array(grid.valuesMs.length);
  let before = 0;
  law.valuesMs.forEach((value, i) => {
    const upTo = law.cumulative[i] as number;
    share(grid, mass, value, (upTo - before) / law.totalWeight);
    before = upTo;
  });
  return mass;
}

function convolve(grid: Grid, a: Float64Array, b: Float64Array): Float64Array {
  const mass: Float64Array = new Float64Array(grid.valuesMs.length);
  for (let i = 0; i < a.length; i++) {
    const weight = a[i] as number;
    if (weight === 0) continue;
    for (let j = 0; j < b.length; j++) {
      const product = weight * (b[j] as number);
      if (product > 0)
        share(grid, mass, (grid.valuesMs[i] as number) + (grid.valuesMs[j] as number), product);
    }
  }
  return mass;
}

/** Splits a weight between the grid points round a value so that their mean is the value. */
function share(
  { valuesMs, logFirst, logStep }: Grid,
  mass: Float64Array,
  value: number,
  weight: number,
): void {
  const last = valuesMs.length - 1;
  let low = value <= 0 ? 0 : Math.floor((Math.log(value) - logFirst) / logStep) + 1;
  low = Math.min(Math.max(0, low), last);
  const high = Math.min(low + 1, last);
  const from = valuesMs[low] as number;
  const width = (valuesMs[high] as number) - from;
  const part = width > 0 ? Math.min(1, Math.max(0, (value - from) / width)) : 0;
  mass[low] = (mass[low] as number) + weight * (1 - part);
  mass[high] = (mass[high] as number) + weight * part;
}
