import { type Rng, seededRng } from "../core/rng.ts";
import type { Budget } from "./budget.ts";
import type { Hedger } from "./hedger.ts";

export type Law = (rng: Rng, nowMs: number) => number;

export function lognormal(meanMs: number, sdMs: number): Law {
  const variance = Math.log(1 + (sdMs / meanMs) ** 2);
  const mu = Math.log(meanMs) - variance / 2;
  return (rng) => {
    const radius = Math.sqrt(-2 * Math.log(1 - rng.next()));
    return Math.exp(mu + Math.sqrt(variance) * radius * Math.cos(2 * Math.PI * rng.next()));
  };
}

export interface World {
  readonly hedger: Hedger;
  readonly law: Law;
  readonly seconds: number;
  readonly callsPerSecond?: number;
  readonly budget?: Budget;
  readonly key?: string;
  readonly seed?: number;
  readonly fromMs?: number;
  /** Whose latency is recorded: the primary's, as it should be, or that of whichever copy was first. */
  readonly record?: "primary" | "finished";
}

export interface Tally {
  calls: number;
  hedges: number;
  /** Hedges sent by calls of the second half, when the delay has settled. */
  lateHedges: number;
}

/** Independent servers without queues; what is learnt is learnt when a call ends, in that order. */
export function live(world: World): Tally {
  const { hedger, law, budget, record = "primary", callsPerSecond = 1000 } = world;
  const rng = seededRng(world.seed ?? 1);
  const cls = hedger.classOf(world.key ?? "GET /");
  const tally = { calls: Math.round(world.seconds * callsPerSecond), hedges: 0, lateHedges: 0 };
  const ends: { atMs: number; latencyMs: number; censored: boolean }[] = [];
  const fromMs = world.fromMs ?? 0;
  for (let i = 0; i < tally.calls; i++) {
    const nowMs = fromMs + (i * 1000) / callsPerSecond;
    for (let end = ends.at(-1); end !== undefined && end.atMs <= nowMs; end = ends.at(-1)) {
      ends.pop();
      budget?.deposit(end.atMs);
      hedger.record(cls, end.latencyMs, end.censored, end.atMs);
    }
    const delayMs = hedger.delayMs(cls, nowMs);
    let latencyMs = law(rng, nowMs);
    let atMs = nowMs + latencyMs;
    let censored = false;
    if (latencyMs > delayMs && (budget?.tryWithdraw("hedge", nowMs + delayMs) ?? true)) {
      tally.hedges++;
      if (i > tally.calls / 2) tally.lateHedges++;
      const backupMs = law(rng, nowMs);
      if (delayMs + backupMs < latencyMs) {
        censored = record === "primary";
        latencyMs = censored ? delayMs + backupMs : backupMs;
        atMs = nowMs + delayMs + backupMs;
      }
    }
    let place = ends.length;
    while (place > 0 && (ends[place - 1] as { atMs: number }).atMs < atMs) place--;
    ends.splice(place, 0, { atMs, latencyMs, censored });
  }
  return tally;
}

export const lateRatio = ({ lateHedges, calls }: Tally): number => lateHedges / (calls / 2);
