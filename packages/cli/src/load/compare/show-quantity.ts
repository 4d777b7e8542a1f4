import { showCount, showMs, showPercent } from "../../plan/figures.ts";
import { showRate } from "../output/describe-run.ts";
import { QUANTITIES, type Quantity, type QuantityName } from "./quantity.ts";
import type { Verdict } from "./verdict.ts";

/** Shifts beyond this are read as factors. */
const MOST_PERCENT = 9.995;

export function showValue(value: number, unit: Quantity["unit"]): string {
  if (value === Number.POSITIVE_INFINITY) return "unbounded";
  switch (unit) {
    case "ms":
      return showMs(value);
    case "share":
      return showPercent(value);
    case "per-second":
      return showRate(value);
  }
}

/** `+12.3 %`, `x12`, `+0.12 pt`: with its sign, by the quantity's scale. */
export function showChange(change: number, scale: Quantity["scale"]): string {
  if (!Number.isFinite(change)) return change > 0 ? "unbounded" : "-unbounded";
  if (scale === "ratio" && change > MOST_PERCENT) return `x${showCount(change + 1)}`;
  const hundred = change * 100;
  const digits = scale === "ratio" ? hundred.toFixed(1) : hundred.toFixed(2);
  const sign = hundred > 0 ? "+" : "";
  return `${Number(digits) === 0 ? digits.replace("-", "") : `${sign}${digits}`} ${scale === "ratio" ? "%" : "pt"}`;
}

/** `[+15.2 %, +25.0 %]`; where neither end is bounded there is none. */
export function showShiftInterval(
  { low, high }: { readonly low: number; readonly high: number },
  scale: Quantity["scale"],
): string {
  const isNone = high === Number.POSITIVE_INFINITY && low <= (scale === "ratio" ? -1 : -Infinity);
  return isNone ? "[no interval]" : `[${showChange(low, scale)}, ${showChange(high, scale)}]`;
}

/** Without a sign, and rounded up: it is said that nothing is larger. */
export function showSize(size: number, scale: Quantity["scale"]): string {
  const step = scale === "ratio" ? 1_000 : 10_000;
  const shown = showChange(Math.ceil(size * step - 1e-6) / step, scale);
  return shown.replace("+", "").replace(/\.0+ /, " ");
}

/** What can be said of a quantity, as a sentence without its end. */
export function showVerdict(name: QuantityName, verdict: Verdict, threshold: number): string {
  const { scale } = QUANTITIES[name];
  switch (verdict.kind) {
    case "worse":
    case "better":
      return verdict.kind;
    case "no-difference":
      return `no difference larger than ${showSize(verdict.largest, scale)}`;
    case "cannot-tell": {
      const { moreRuns, moreRunsIfAsSeen } = verdict;
      if (moreRuns === undefined) return "cannot tell: in some runs it lies among failed requests";
      const forThreshold = `about ${showRuns(moreRuns)} a side for ${showSize(threshold, scale)}`;
      return moreRunsIfAsSeen === undefined
        ? `cannot tell: needs ${forThreshold}`
        : `cannot tell: needs about ${showRuns(moreRunsIfAsSeen)} a side if it is as it looks, ${forThreshold}`;
    }
  }
}

function showRuns(count: number): string {
  const rounded = count > 100 ? Number(count.toPrecision(2)) : count;
  return `${showCount(rounded)} more ${rounded === 1 ? "run" : "runs"}`;
}
