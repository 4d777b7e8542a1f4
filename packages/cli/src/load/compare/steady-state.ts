import { kendallScore, trendPValue } from "./kendall.ts";
import { meanOf, mser5 } from "./mser.ts";

/** Whether the runs of a side had settled when they were measured. */
export type SteadyState =
  | { readonly kind: "steady" }
  /** Their start is off by more than a tenth of the rest. */
  | { readonly kind: "warming-up"; readonly values: number }
  /** The last third still rises or falls, in all runs together. */
  | { readonly kind: "no-steady-state"; readonly pValue: number; readonly direction: "up" | "down" }
  /** Too few values to tell. */
  | { readonly kind: "too-short"; readonly needed: number };

/** The last third has eight: below, the test for a trend is no test. */
const FEWEST_VALUES = 24;
const TREND_LEVEL = 0.01;
const START_RATIO = 0.1;

/** @param series - of each run its values in order, as the p90 of every second; finite. */
export function steadyStateOf(series: readonly (readonly number[])[]): SteadyState {
  const length = Math.min(...series.map((values) => values.length));
  if (!(length >= FEWEST_VALUES) || series.length === 0)
    return { kind: "too-short", needed: FEWEST_VALUES };
  const scores = series.map((values) => kendallScore(values.slice(-Math.floor(length / 3))));
  const pValue = trendPValue(scores);
  if (pValue <= TREND_LEVEL) {
    const isUp = scores.reduce((sum, { score }) => sum + score, 0) > 0;
    return { kind: "no-steady-state", pValue, direction: isUp ? "up" : "down" };
  }
  // Over all runs at the same second, so that the luck of one run is not taken for its start (Welch's procedure).
  const typical = Array.from({ length }, (_, i) =>
    meanOf(series.map((values) => values[i] as number)),
  );
  const cut = mser5(typical) ?? Math.floor(length / 2);
  const rest = meanOf(typical.slice(cut));
  const isOff = cut > 0 && Math.abs(meanOf(typical.slice(0, cut)) - rest) > START_RATIO * rest;
  return isOff ? { kind: "warming-up", values: cut } : { kind: "steady" };
}
