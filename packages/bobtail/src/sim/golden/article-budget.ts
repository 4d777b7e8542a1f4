import { createTokenBudget } from "../../policies/token-budget.ts";

export interface ArticleBudgetRow {
  readonly phase: "normal" | "saturated";
  readonly name: string;
  readonly p99Ms: number;
  readonly loadFactor: number;
}

const CALLS = 5000;
const DELAY_MS = 10;

/**
 * The budget program of the fan-out lesson, draw for draw: the same calls without a hedge, with one after 10 ms, and with a 5 % budget.
 *
 * The budget is ours. Two things are the lesson's: it earns with every call, not with every success, and it leaves nothing
 * to retries, which is why hedges are asked for here as retries are.
 *
 * Source: the generator is Ettinger's mulberry32.
 */
export function articleBudget(seed: number = 42): readonly ArticleBudgetRow[] {
  const random = mulberry32(seed);
  return [...phase("normal", random), ...phase("saturated", random)];
}

function phase(name: "normal" | "saturated", random: () => number): ArticleBudgetRow[] {
  const draw = () => replicaMs(random, name === "saturated");
  const calls = Array.from({ length: CALLS }, () => [draw(), draw()] as const);
  const row = (label: string, ratio: number | undefined, burstCount: number): ArticleBudgetRow => {
    const budget =
      ratio === undefined ? undefined : createTokenBudget({ extraRatio: ratio, burstCount }, 0);
    let hedges = 0;
    const latencies = calls.map(([primaryMs, backupMs]) => {
      budget?.deposit(0);
      if (primaryMs <= DELAY_MS || !budget?.tryWithdraw("retry", 0)) return primaryMs;
      hedges++;
      return Math.min(primaryMs, DELAY_MS + backupMs);
    });
    latencies.sort((a, b) => a - b);
    const p99Ms = latencies[Math.ceil(0.99 * CALLS) - 1] as number;
    return { phase: name, name: label, p99Ms, loadFactor: (CALLS + hedges) / CALLS };
  };
  return [
    row("no hedging", undefined, 1),
    row("hedge after 10 ms, no budget", 1, 1),
    row("hedge after 10 ms, 5% budget", 0.05, 10),
  ];
}

function replicaMs(random: () => number, overloaded: boolean): number {
  let ms = 3 + 5 * random();
  if (random() < 0.02) ms += 60 + 60 * random();
  if (overloaded && random() < 0.4) ms += 80 + 70 * random();
  return ms;
}

function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
