import type { Histogram, Rng } from "bobtail/engine";
import type { RunBlock } from "./run-figures.ts";
import { blockQuantileMs } from "./run-figures.ts";

export interface BootstrapOptions {
  readonly quantiles: readonly number[];
  /** A whole number >= 40, default 1,000. */
  readonly resamples?: number;
  /** In (0, 1), default 0.95. */
  readonly confidence?: number;
  readonly rng: Rng;
}

export interface BootstrapInterval {
  readonly quantile: number;
  /** How much more B is than A, as parts of A; at least -1, at most Infinity. */
  readonly low: number;
  readonly high: number;
}

/**
 * Percentile intervals of the ratio of quantiles of two runs, from stretches of them drawn again. Stretches, since slow requests come together:
 * drawn one by one they would make the interval a fraction of what it is.
 *
 * They describe these two runs alone: how much the next ones differ, no run can tell.
 * Source: Carlstein, Ann. Statist. 14, 1986; Künsch, Ann. Statist. 17, 1989.
 */
export function blockBootstrap(
  a: readonly RunBlock[],
  b: readonly RunBlock[],
  { quantiles, resamples = 1_000, confidence = 0.95, rng }: BootstrapOptions,
): BootstrapInterval[] {
  const ratios = quantiles.map(() => new Float64Array(resamples));
  const [drawA, drawB] = [redrawer(a, rng), redrawer(b, rng)];
  for (let i = 0; i < resamples; i++) {
    const [one, other] = [drawA(), drawB()];
    for (const [j, quantile] of quantiles.entries())
      (ratios[j] as Float64Array)[i] =
        Math.log(blockQuantileMs(other, quantile)) - Math.log(blockQuantileMs(one, quantile));
  }
  const outside = Math.floor(((1 - confidence) / 2) * resamples);
  return quantiles.map((quantile, j) => {
    // Two infinite ones may differ by anything.
    const read = (unknown: number): Float64Array =>
      (ratios[j] as Float64Array).map((value) => (Number.isNaN(value) ? unknown : value)).sort();
    return {
      quantile,
      low: Math.expm1(read(Number.NEGATIVE_INFINITY)[outside] as number),
      high: Math.expm1(read(Number.POSITIVE_INFINITY)[resamples - 1 - outside] as number),
    };
  });
}

/** As many blocks as there are, each any of them. */
function redrawer(blocks: readonly RunBlock[], rng: Rng): () => RunBlock {
  const all: Histogram | undefined = blocks[0]?.all.clone();
  if (all === undefined) throw new RangeError("a run without blocks has nothing to draw from");
  return () => {
    all.reset();
    let infinite = 0;
    for (let i = 0; i < blocks.length; i++) {
      const block = blocks[rng.below(blocks.length)] as RunBlock;
      all.add(block.all);
      infinite += block.infinite;
    }
    return { all, infinite };
  };
}
