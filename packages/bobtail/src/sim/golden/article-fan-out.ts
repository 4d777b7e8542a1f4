import { Mt19937 } from "../../core/mt19937.ts";
import { nearestRank, sampleFanOut } from "../sampled-fan-out.ts";
import { atIndex } from "./article-fleet.ts";

interface ArticleFanOutRow {
  readonly name: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly extraRatio: number;
}

export interface ArticleFanOut {
  readonly leaf: { readonly p50Ms: number; readonly p95Ms: number; readonly p99Ms: number };
  readonly rows: readonly ArticleFanOutRow[];
}

/**
 * Part 2 of the balancing article, draw for draw: 20,000 requests of 100 leaves, 1 % of which stall. A leaf has no queue, so no policy
 * takes part: this is the article's program re-expressed. Its hedged p99 are lucky draws; see the scenario `hedged-fan-out`.
 */
export function articleFanOut(trials: number = 20_000): ArticleFanOut {
  const one = new Mt19937(5);
  const leaves = Float64Array.from({ length: 200_000 }, () => stallingLeaf(one)).sort();
  const leaf = {
    p50Ms: atIndex(leaves, 0.5),
    p95Ms: atIndex(leaves, 0.95),
    p99Ms: atIndex(leaves, 0.99),
  };
  const row = (name: string, delayMs: number | undefined): ArticleFanOutRow => {
    const rng = new Mt19937(11);
    const draw = () => stallingLeaf(rng);
    const { latenciesMs, extraRatio } = sampleFanOut({
      trials,
      leaves: 100,
      delayMs,
      primaryMs: draw,
      backupMs: draw,
    });
    return {
      name,
      p50Ms: atIndex(latenciesMs, 0.5),
      p99Ms: atIndex(latenciesMs, 0.99),
      extraRatio,
    };
  };
  const rows = [
    row("no hedging", undefined),
    row("hedge after p95", leaf.p95Ms),
    row("hedge after 10 ms", 10),
  ];
  return { leaf, rows };
}

function stallingLeaf(rng: Mt19937): number {
  const baseMs = rng.lognormal(1.3, 0.4);
  return rng.random() < 0.01 ? baseMs + rng.uniform(50, 150) : baseMs;
}

/**
 * The hedge table of the fan-out lesson, draw for draw: 2,000 requests of 100 leaves, 2 % of which meet 20 to 80 ms of interference; every
 * strategy meets the same first copies. The lesson's program re-expressed, for the same reason.
 */
export function articleHedgeDelays(): ArticleFanOut & { readonly leafP90Ms: number } {
  const trials = 2000;
  const leaves = 100;
  const rng = new Mt19937(5);
  const base = () => rng.lognormal(Math.log(4), 0.35);
  const interference = () => (rng.random() < 0.02 ? rng.uniform(20, 80) : 0);
  const calibration = Float64Array.from({ length: 50_000 }, () => base() + interference()).sort();
  const at = (quantile: number) => nearestRank(calibration, quantile);
  const bases = new Float64Array(trials * leaves);
  const extras = new Float64Array(trials * leaves);
  for (let i = 0; i < bases.length; i++) {
    bases[i] = base();
    extras[i] = interference();
  }
  const row = (name: string, delayMs: number | undefined, shared: boolean): ArticleFanOutRow => {
    const { latenciesMs, extraRatio } = sampleFanOut({
      trials,
      leaves,
      delayMs,
      primaryMs: (i) => (bases[i] as number) + (extras[i] as number),
      backupMs: (i) => base() + (shared ? (extras[i] as number) : interference()),
    });
    return {
      name,
      p50Ms: nearestRank(latenciesMs, 0.5),
      p99Ms: nearestRank(latenciesMs, 0.99),
      extraRatio,
    };
  };
  return {
    leaf: { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) },
    leafP90Ms: at(0.9),
    rows: [
      row("no hedging", undefined, false),
      row("hedge after the leaf p50", at(0.5), false),
      row("hedge after the leaf p90", at(0.9), false),
      row("hedge after the leaf p95", at(0.95), false),
      row("hedge after the leaf p99", at(0.99), false),
      row("p95 hedge, slowness shared", at(0.95), true),
    ],
  };
}
