import { Histogram, seededRng } from "bobtail/engine";
import type { RunRecord } from "../output/run-record.ts";
import { blockBootstrap } from "./block-bootstrap.ts";
import { QUANTITIES, type QuantityName } from "./quantity.ts";
import { figuresOf, type RunBlock } from "./run-figures.ts";

const BLOCK_MS = 5_000;
/** Fewer cannot show how stretches of a run differ. */
const FEWEST_BLOCKS = 6;

export interface SingleQuantity {
  readonly name: QuantityName;
  /** Undefined: the run is too small for it. */
  readonly valueA: number | undefined;
  readonly valueB: number | undefined;
  /** On the quantity's scale; undefined where both are infinite or one is not known. */
  readonly change: number | undefined;
  /** Undefined where there is none: of shares and rates, and of runs shorter than half a minute. */
  readonly interval: { readonly low: number; readonly high: number } | undefined;
}

/** Two runs side by side. It says what these two were, and nothing of the next ones. */
export interface SinglesComparison {
  /** Stretches of the shorter run. */
  readonly blocks: number;
  readonly blockMs: number;
  /** Why there are no intervals; undefined when there are. */
  readonly withoutIntervals: string | undefined;
  readonly quantities: readonly SingleQuantity[];
}

export function compareSingles(
  a: RunRecord,
  b: RunRecord,
  names: readonly QuantityName[],
): SinglesComparison {
  const [figuresA, figuresB] = [figuresOf(a), figuresOf(b)];
  const [blocksA, blocksB] = [blocksOf(a), blocksOf(b)];
  const blocks = Math.min(blocksA.length, blocksB.length);
  const withoutIntervals = whyNone(a, blocks);
  const drawn = names.filter(
    (name) =>
      QUANTITIES[name].quantile !== undefined &&
      figuresA[name] !== undefined &&
      figuresB[name] !== undefined,
  );
  const intervals =
    withoutIntervals === undefined
      ? blockBootstrap(blocksA, blocksB, {
          quantiles: drawn.map((name) => QUANTITIES[name].quantile ?? 0.5),
          rng: seededRng(1),
        })
      : [];
  return {
    blocks,
    blockMs: BLOCK_MS,
    withoutIntervals,
    quantities: names.map((name) => ({
      name,
      valueA: figuresA[name],
      valueB: figuresB[name],
      change: changeOf(name, figuresA[name], figuresB[name]),
      interval: intervals[drawn.indexOf(name)],
    })),
  };
}

/** Intervals of a run put together to stretches of five seconds; what is left over joins the last one. */
function blocksOf({ intervals }: RunRecord): RunBlock[] {
  const lengthMs = intervals[0]?.lengthMs ?? BLOCK_MS;
  const size = Math.max(1, Math.round(BLOCK_MS / lengthMs));
  const count = Math.floor(intervals.length / size);
  return Array.from({ length: count }, (_, i) => {
    const all = new Histogram();
    let infinite = 0;
    const end = i === count - 1 ? intervals.length : (i + 1) * size;
    for (const interval of intervals.slice(i * size, end)) {
      all.add(interval.all);
      infinite += interval.infinite;
    }
    return { all, infinite };
  });
}

function whyNone({ intervals }: RunRecord, blocks: number): string | undefined {
  const lengthMs = intervals[0]?.lengthMs ?? BLOCK_MS;
  if (lengthMs > BLOCK_MS) return `the files keep intervals of ${lengthMs / 1_000} s`;
  if (blocks >= FEWEST_BLOCKS) return undefined;
  return `that needs runs of ${(FEWEST_BLOCKS * BLOCK_MS) / 1_000} s or more`;
}

function changeOf(
  name: QuantityName,
  a: number | undefined,
  b: number | undefined,
): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  const change = QUANTITIES[name].scale === "ratio" ? b / a - 1 : b - a;
  return Number.isNaN(change) ? undefined : change;
}
