import { nearestRank, shareAbove } from "../sampled-fan-out.ts";
import { slowShare } from "../theory.ts";
import { SECOND_LEAF, sampleLeaves } from "./leaf-sampling.ts";
import {
  type BuiltInScenario,
  type Column,
  EXTRA_COLUMN,
  runSamples,
  scaled,
} from "./scenario-table.ts";

const P50: Column = { key: "p50", title: "p50", unit: "ms", digits: 1 };
const P99: Column = { key: "p99", title: "p99", unit: "ms", digits: 1 };

export const singleServer: BuiltInScenario = {
  name: "single-server",
  title:
    "A server that stalls for a second once in a hundred calls, and requests to a hundred of them",
  source: "tail latency notes; exact by arithmetic and integration",
  run: (options = {}) => {
    const row = (
      name: string,
      { leaves, delayMs }: { readonly leaves: number; readonly delayMs?: number },
      article: Readonly<Record<string, number>>,
      exact: Readonly<Record<string, number>>,
    ) => ({
      name,
      article,
      exact,
      sample: (seed: number) => {
        const trials = scaled(leaves === 1 ? 400_000 : 20_000, options.scale ?? 1);
        const { latenciesMs, extraRatio } = sampleLeaves({
          leaf: SECOND_LEAF,
          trials,
          leaves,
          delayMs,
          seed,
        });
        const mean = latenciesMs.reduce((sum, ms) => sum + ms, 0) / trials;
        return {
          mean,
          p50: nearestRank(latenciesMs, 0.5),
          p99: nearestRank(latenciesMs, 0.99),
          p999: nearestRank(latenciesMs, 0.999),
          over: shareAbove(latenciesMs, 1000),
          extra: extraRatio,
        };
      },
    });
    return {
      name: "single-server",
      title: singleServer.title,
      columns: [
        { key: "mean", title: "mean", unit: "ms", digits: 1 },
        P50,
        P99,
        { key: "p999", title: "p99.9", unit: "ms", digits: 1 },
        { key: "over", title: "over 1 s", unit: "ratio", digits: 1 },
        EXTRA_COLUMN,
      ],
      rows: runSamples(
        [
          row(
            "one call",
            { leaves: 1 },
            { mean: 20.1, p50: 10.1, p99: 1005.1, p999: 1014 },
            { mean: 20, p999: 1014, over: 0.01 },
          ),
          row(
            "100 leaves",
            { leaves: 100 },
            { p50: 1008, p99: 1015, over: 0.63, extra: 0 },
            { p50: 1008.09, p99: 1014.9, over: slowShare(0.01, 100) },
          ),
          row(
            "100 leaves, hedge after p95",
            { leaves: 100, delayMs: 14.596 },
            { p50: 22.7, p99: 29.6, over: 0.008, extra: 0.049 },
            { p50: 22.72, p99: 29.6, over: 0.00995, extra: 0.05 },
          ),
        ],
        options,
      ),
      notes: [
        "The mean of 20 ms describes nobody: 99 calls in 100 take 10 ms, one takes a second.",
      ],
    };
  },
};
