import { seededRng } from "../../core/rng.ts";
import type { Law } from "../law.ts";
import { nearestRank, shareAbove } from "../sampled-fan-out.ts";
import {
  INTERFERED_LEAF,
  SECOND_LEAF,
  STALLING_LEAF,
  sampleLeaves,
} from "../scenarios/leaf-sampling.ts";
import { harmonic, slowShare } from "../theory.ts";
import type { SimRow, Tolerance } from "./sim-row.ts";

const quick = { scale: 0.03, slack: 5 };

function ratio(value: number): Tolerance {
  return { kind: "ratio", value };
}

function sampled(
  leaf: Law,
  delayMs: number | undefined,
  scale: number,
): ReturnType<typeof sampleLeaves> {
  return sampleLeaves({ leaf, delayMs, trials: Math.round(200_000 * scale), seed: 1 });
}

function medianRows(): SimRow[] {
  const medians: readonly (readonly [string, Law, number | undefined, number])[] = [
    ["stalling leaf, no hedge", STALLING_LEAF, undefined, 84.9],
    ["stalling leaf, p95 hedge", STALLING_LEAF, 7.377, 10.96],
    ["stalling leaf, 10 ms hedge", STALLING_LEAF, 10, 13.17],
    ["interfered leaf, no hedge", INTERFERED_LEAF, undefined, 63.53],
    ["interfered leaf, p50 hedge", INTERFERED_LEAF, 4.036, 9.23],
    ["interfered leaf, p90 hedge", INTERFERED_LEAF, 6.516, 11.29],
    ["interfered leaf, p95 hedge", INTERFERED_LEAF, 7.702, 12.41],
    ["interfered leaf, p99 hedge", INTERFERED_LEAF, 54.25, 57.36],
  ];
  return medians.map(([name, leaf, delayMs, expected]) => ({
    id: `32 (${name})`,
    fact: `request median of 100 leaves, ${name}, ms`,
    source: "numeric integration",
    expected,
    tolerance: ratio(0.01),
    quick,
    compute: (s: number = 1) => nearestRank(sampled(leaf, delayMs, s).latenciesMs, 0.5),
  }));
}

function samplingRows(): SimRow[] {
  const second = (scale: number) => sampled(SECOND_LEAF, 14.596, scale);
  const max = (scale: number) =>
    sampleLeaves({
      leaf: { kind: "exponential", meanMs: 1 },
      trials: Math.round(200_000 * scale),
      seed: 1,
    });
  return [
    {
      id: "29a",
      fact: "mean of the slowest of 100 exponential leaves",
      source: "harmonic number",
      expected: harmonic(100),
      tolerance: ratio(0.005),
      quick,
      compute: (s = 1) => max(s).latenciesMs.reduce((a, b) => a + b, 0) / max(s).latenciesMs.length,
    },
    {
      id: "29b",
      fact: "p99 of the slowest of 100 exponential leaves",
      source: "order statistics",
      expected: 9.205,
      tolerance: ratio(0.005),
      quick,
      compute: (s = 1) => nearestRank(max(s).latenciesMs, 0.99),
    },
    {
      id: "31a",
      fact: "hedged requests of 100 leaves that stall for a second: p50, ms",
      source: "exact",
      expected: 22.72,
      tolerance: ratio(0.005),
      quick,
      compute: (s = 1) => nearestRank(second(s).latenciesMs, 0.5),
    },
    {
      id: "31b",
      fact: "the same: share over a second",
      source: "exact; the p99 stands on this cliff",
      expected: 0.00995,
      tolerance: ratio(0.05),
      quick,
      compute: (s = 1) => shareAbove(second(s).latenciesMs, 1000),
    },
    {
      id: "31c",
      fact: "the same: the quantile of 98 %, ms",
      source: "exact",
      expected: secondQuantile(0.98),
      tolerance: ratio(0.005),
      quick,
      compute: (s = 1) => nearestRank(second(s).latenciesMs, 0.98),
    },
    {
      id: "39",
      fact: "slow requests of 100 leaves when half of 1 % is a cause they share",
      source: "1 - (1 - pc)(1 - pi)^N",
      expected: 0.399,
      tolerance: { kind: "absolute", value: 0.005 },
      quick,
      compute: (s = 1) => shockShare(0.005, Math.round(200_000 * s)),
    },
    {
      id: "40",
      fact: "slow requests after a hedge when replicas share 5 % of their stalls",
      source: "p (r + (1 - r) p)",
      expected: 0.058,
      tolerance: { kind: "absolute", value: 0.003 },
      quick,
      compute: (s = 1) => bothSlowShare(0.05, Math.round(200_000 * s)),
    },
  ];
}

/** Of the hedged requests of leaves that take 5 to 15 ms and stall for a second in 1 % of calls, by bisection on the exact law. */
function secondQuantile(quantile: number): number {
  const tail = (t: number) => 0.01 + 0.99 * Math.min(1, Math.max(0, (15 - t) / 10));
  const hedged = (t: number) => (t <= 14.596 ? tail(t) : tail(t) * tail(t - 14.596));
  let low = 0;
  let high = 999;
  for (let i = 0; i < 100; i++) {
    const t = (low + high) / 2;
    if (slowShare(hedged(t), 100) > 1 - quantile) low = t;
    else high = t;
  }
  return high;
}

function shockShare(shared: number, trials: number): number {
  const rng = seededRng(1);
  const own = 1 - (1 - 0.01) / (1 - shared);
  let slow = 0;
  for (let i = 0; i < trials; i++) {
    let isSlow = rng.next() < shared;
    for (let leaf = 0; leaf < 100 && !isSlow; leaf++) isSlow = rng.next() < own;
    if (isSlow) slow++;
  }
  return slow / trials;
}

/** A backup of a slow primary is slow for the same cause with probability `shared`, else by its own luck. */
function bothSlowShare(shared: number, trials: number): number {
  const rng = seededRng(1);
  let slow = 0;
  for (let i = 0; i < trials; i++) {
    let isSlow = false;
    for (let leaf = 0; leaf < 100 && !isSlow; leaf++)
      isSlow = rng.next() < 0.01 && (rng.next() < shared || rng.next() < 0.01);
    if (isSlow) slow++;
  }
  return slow / trials;
}

export const leafRows: readonly SimRow[] = [...samplingRows(), ...medianRows()];
