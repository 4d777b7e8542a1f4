import type { SimResult } from "../result.ts";
import { busyRatio, heldAtLeast, littleError, metAtLeast } from "../result-views.ts";
import type { WorldOptions } from "../scenario.ts";
import { STALLING_LEAF } from "../scenarios/leaf-sampling.ts";
import { plain } from "../scenarios/policies.ts";
import { redundant, theoryWorld, UNIT_MS } from "../scenarios/queueing.ts";
import { erlangC, mg1Wait, mmcMean, mmcQuantile, redundancyMean } from "../theory.ts";
import { runWorld, type SimRow, type Tolerance } from "./sim-row.ts";

const RANDOM = plain({ policy: "random" });
const QUICK = { scale: 0.025, slack: 6 };

function ratio(value: number): Tolerance {
  return { kind: "ratio", value };
}

/** Mean time in units of the mean service time. */
function meanUnits(r: SimResult): number {
  return r.latency.mean / 1000 / UNIT_MS;
}

function quantileUnits(r: SimResult, quantile: number): number {
  return r.latency.quantile(quantile) / 1000 / UNIT_MS;
}

/** One station of so many workers. */
function station(workers: number, load: number, requests: number): WorldOptions {
  const world = theoryWorld(1, load, requests);
  return { ...world, servers: [{ workers }], policy: RANDOM, occupancy: true };
}

function mm1Rows(): SimRow[] {
  const at = (load: number, requests: number) => station(1, load, requests);
  const seven = at(0.7, 6_000_000);
  const nine = at(0.9, 17_000_000);
  const row = (
    id: string,
    fact: string,
    [expected, tolerance]: readonly [number, number],
    [world, of]: readonly [WorldOptions, (r: SimResult) => number],
  ): SimRow => ({
    id,
    fact,
    source: "theory",
    expected,
    tolerance: ratio(tolerance),
    quick: world === nine ? { scale: 0.01, slack: 12 } : { scale: 0.02, slack: 6 },
    compute: (scale = 1) => of(runWorld(world, scale)),
  });
  return [
    row("1a", "M/M/1 at load 0.7: mean time", [1 / 0.3, 0.01], [seven, meanUnits]),
    row(
      "1b",
      "M/M/1 at load 0.7: p50",
      [Math.LN2 / 0.3, 0.01],
      [seven, (r) => quantileUnits(r, 0.5)],
    ),
    row(
      "1c",
      "M/M/1 at load 0.7: p99",
      [Math.log(100) / 0.3, 0.02],
      [seven, (r) => quantileUnits(r, 0.99)],
    ),
    row("2", "M/M/1 at load 0.9: mean time", [10, 0.01], [nine, meanUnits]),
    ...[1, 2, 4, 8].map((i) =>
      row(
        `3 (>= ${i})`,
        `M/M/1 at load 0.9: P(N >= ${i})`,
        [0.9 ** i, 0.01],
        [nine, (r) => heldAtLeast(r, i)],
      ),
    ),
  ];
}

function mmcRows(): SimRow[] {
  const cases: readonly (readonly [string, number, number, number, number])[] = [
    ["4", 2, 0.7, 4_000_000, 0.01],
    ["5", 4, 0.7, 4_000_000, 0.01],
    ["6 (0.7)", 10, 0.7, 4_000_000, 0.01],
    ["6 (0.9)", 10, 0.9, 8_000_000, 0.01],
    ["7", 40, 0.9, 8_000_000, 0.005],
  ];
  return cases.flatMap(([id, workers, load, requests, tolerance]) => {
    const world = station(workers, load, requests);
    const row = (
      part: string,
      fact: string,
      [expected, within]: readonly [number, number],
      of: (r: SimResult) => number,
    ): SimRow => ({
      id: `${id}${part}`,
      fact: `M/M/${workers} at load ${load}: ${fact}`,
      source: "Erlang C",
      expected,
      tolerance: ratio(within),
      quick: QUICK,
      compute: (scale = 1) => of(runWorld(world, scale)),
    });
    return [
      row(
        " C",
        "share of arrivals that wait",
        [erlangC(workers, load), workers === 2 ? 0.01 : 0.02],
        (r) => metAtLeast(r, workers),
      ),
      row(" T", "mean time", [mmcMean(workers, load), tolerance], meanUnits),
      row(" p99", "p99", [mmcQuantile(workers, load, 0.99), 0.02], (r) => quantileUnits(r, 0.99)),
    ];
  });
}

function mg1Rows(): SimRow[] {
  const wait = (r: SimResult, meanMs: number) => r.latency.mean / 1000 - meanMs;
  const constant = { kind: "constant", valueMs: UNIT_MS } as const;
  const rows: SimRow[] = [0.5, 0.7, 0.9].map((load) => {
    const world = { ...station(1, load, load === 0.9 ? 12_000_000 : 4_000_000), size: constant };
    return {
      id: `8 (${load})`,
      fact: `M/D/1 at load ${load}: mean wait`,
      source: "Pollaczek-Khinchine",
      expected: mg1Wait(load, 1),
      tolerance: ratio(load === 0.9 ? 0.02 : 0.01),
      quick: load === 0.9 ? { scale: 0.01, slack: 10 } : QUICK,
      compute: (scale = 1) => wait(runWorld(world, scale), UNIT_MS) / UNIT_MS,
    };
  });
  const lognormal = {
    ...station(1, 0.7, 8_000_000),
    size: { kind: "lognormal", mu: Math.log(UNIT_MS) - 0.5, sigma: 1 },
  } as const;
  rows.push({
    id: "9",
    fact: "M/G/1 at load 0.7, lognormal of sigma 1: mean wait",
    source: "Pollaczek-Khinchine",
    expected: mg1Wait(0.7, Math.E),
    tolerance: ratio(0.03),
    quick: { scale: 0.02, slack: 6 },
    compute: (scale = 1) => wait(runWorld(lognormal, scale), UNIT_MS) / UNIT_MS,
  });
  const leaf = { ...station(1, 0.7, 12_000_000), size: STALLING_LEAF } as const;
  rows.push({
    id: "10",
    fact: "M/G/1 at load 0.7, the leaf that stalls in 1 % of calls: mean wait, ms",
    source: "Pollaczek-Khinchine",
    expected: 31.6,
    tolerance: ratio(0.03),
    quick: { scale: 0.015, slack: 8 },
    compute: (scale = 1) => wait(runWorld(leaf, scale), 4.975),
  });
  return rows;
}

function lawRows(): SimRow[] {
  const seven = station(4, 0.7, 4_000_000);
  const tails = [2, 3, 4].map(
    (i): SimRow => ({
      id: `12 (N >= ${i})`,
      fact: `arrivals see time averages: share that met ${i} over share of time`,
      source: "PASTA",
      expected: 1,
      tolerance: { kind: "absolute", value: 0.005 },
      quick: QUICK,
      compute: (scale = 1) => {
        const r = runWorld(seven, scale);
        return metAtLeast(r, i) / heldAtLeast(r, i);
      },
    }),
  );
  return [
    {
      id: "11",
      fact: "Little's law, L = lambda T: relative error",
      source: "theory",
      expected: 0,
      tolerance: { kind: "absolute", value: 0.001 },
      quick: { scale: 0.025, slack: 1 },
      compute: (scale = 1) => littleError(runWorld(seven, scale)),
    },
    {
      id: "12 (busy)",
      fact: "workers are busy for the load's share of the time",
      source: "theory",
      expected: 0.7,
      tolerance: ratio(0.005),
      quick: QUICK,
      compute: (scale = 1) => busyRatio(runWorld(seven, scale)),
    },
    ...tails,
  ];
}

function redundancyRows(): SimRow[] {
  const cancelled = (load: number): WorldOptions => ({
    ...redundant(theoryWorld(10, load, 5_000_000), 10),
    cancel: "running",
  });
  return [0.5, 0.7, 0.9].map((load) => ({
    id: `20 (${load})`,
    fact: `two copies on two of ten servers, the first to finish cancels the other, load ${load}: mean time`,
    source: "Gardner et al., 2017",
    expected: redundancyMean(10, 2, load),
    tolerance: ratio(load === 0.9 ? 0.02 : 0.01),
    quick: { scale: 0.02, slack: 6 },
    compute: (scale: number = 1) => meanUnits(runWorld(cancelled(load), scale)),
  }));
}

export const queueRows: readonly SimRow[] = [
  ...mm1Rows(),
  ...mmcRows(),
  ...mg1Rows(),
  ...lawRows(),
  ...redundancyRows(),
];
