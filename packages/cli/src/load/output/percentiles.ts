import type { Histogram } from "bobtail/engine";
import { samplesForInterval } from "bobtail/plan";
import { showCount, showMs, showPercent } from "../../plan/figures.ts";

import {
  headlineQuantile,
  infiniteCount,
  type LoadSection,
  supportedQuantileMs,
} from "../load-report.ts";

/** The percentiles that reports show. */
export const REPORT_QUANTILES: readonly number[] = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999];

/** Fewer requests beyond a percentile make it shaky: a report greys it. */
const FIRM_EXCEEDANCES = 100;

/** A percentile as it may be said. */
export type Figure =
  /** `at-least`: given-up requests lie below it, so it is longer than is known. */
  | {
      readonly kind: "known";
      readonly ms: number;
      readonly bound: "exact" | "at-least";
      readonly isFirm: boolean;
    }
  /** It lies among the requests that failed or were dropped. */
  | { readonly kind: "unbounded"; readonly failedRatio: number; readonly isFirm: boolean }
  | { readonly kind: "unsupported"; readonly needed: number };

type Headline = Pick<LoadSection, "ledger" | "all" | "completed">;

/** Requests that the headline percentiles are over: all that were planned and not left out by a stop. */
export function headlineCount(section: Pick<LoadSection, "ledger" | "all">): number {
  return section.all.count + infiniteCount(section);
}

/** Over all planned requests, failed ones as infinitely long. */
export function headlineFigure(section: Headline, quantile: number): Figure {
  const count = headlineCount(section);
  const found = headlineQuantile(section, quantile);
  if (found === undefined) return unsupported(quantile);
  const isFirm = isFirmAt(count, quantile);
  if (found === "unbounded")
    return { kind: "unbounded", failedRatio: infiniteCount(section) / count, isFirm };
  return { kind: "known", ...found, isFirm };
}

/** Of one clock alone. */
export function figureOf(histogram: Histogram, quantile: number): Figure {
  const ms = supportedQuantileMs(histogram, quantile);
  return ms === undefined
    ? unsupported(quantile)
    : { kind: "known", ms, bound: "exact", isFirm: isFirmAt(histogram.count, quantile) };
}

/** `61.2 ms`, `>= 1,000 ms`, `unbounded (3.1 % failed)`, `needs 3,688 samples`. */
export function showFigure(figure: Figure): string {
  switch (figure.kind) {
    case "known":
      return `${figure.bound === "at-least" ? ">= " : ""}${showMs(figure.ms)}`;
    case "unbounded":
      return `unbounded (${showPercent(figure.failedRatio)} failed)`;
    case "unsupported":
      return `needs ${showCount(figure.needed)} samples`;
  }
}

/** In ms where it is finite: what a chart can draw. */
export function drawableMs(figure: Figure): number | undefined {
  return figure.kind === "known" ? figure.ms : undefined;
}

function unsupported(quantile: number): Figure {
  return { kind: "unsupported", needed: samplesForInterval(quantile) };
}

function isFirmAt(count: number, quantile: number): boolean {
  return count * (1 - quantile) >= FIRM_EXCEEDANCES * (1 - 1e-9);
}
