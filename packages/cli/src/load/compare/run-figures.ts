import type { Histogram } from "bobtail/engine";
import { failedCount, headlineQuantile } from "../load-report.ts";
import type { RunRecord } from "../output/run-record.ts";
import { QUANTITIES, QUANTITY_NAMES, type QuantityName, type RunFigures } from "./quantity.ts";

/** A run in the figures that it is compared by. Given-up requests took longer than anybody waited: they count as infinite too. */
export function figuresOf({ measured, runMs }: RunRecord): RunFigures {
  const { ledger } = measured;
  const due = ledger.planned - ledger.unsent;
  const figure = (name: QuantityName): number | undefined => {
    if (name === "errors")
      return due === 0 ? undefined : (failedCount(ledger) + ledger.openAtEnd) / due;
    if (name === "rate") return runMs > 0 ? (ledger.ok / runMs) * 1_000 : undefined;
    const found = headlineQuantile(measured, QUANTITIES[name].quantile ?? 0.5);
    if (found === "unbounded") return Number.POSITIVE_INFINITY;
    return found?.bound === "at-least" ? Number.POSITIVE_INFINITY : found?.ms;
  };
  return Object.fromEntries(QUANTITY_NAMES.map((name) => [name, figure(name)])) as RunFigures;
}

/** A stretch of a run, with the requests that failed in it. */
export interface RunBlock {
  /** In microseconds. */
  readonly all: Histogram;
  readonly infinite: number;
}

/** The value of rank ceil(q n) in ms, failed ones last as infinite; NaN of nothing. */
export function blockQuantileMs({ all, infinite }: RunBlock, q: number): number {
  const count = all.count + infinite;
  const rank = Math.ceil(q * count * (1 - 4 * Number.EPSILON));
  if (rank > all.count) return Number.POSITIVE_INFINITY;
  return all.quantile(Math.min(1, rank / all.count)) / 1_000;
}

/** The p90 of each recorded interval in which something was sent; of failed requests what they were waited for at most. */
export function p90Series({ intervals, setup }: RunRecord): number[] {
  return intervals
    .map(({ all, infinite }) => ({ all, infinite }))
    .filter(({ all, infinite }) => all.count + infinite > 0)
    .map((block) => Math.min(blockQuantileMs(block, 0.9), setup.timeoutMs));
}
