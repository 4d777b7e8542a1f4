import { readDurationMs, readRatio } from "../../policy-file/units.ts";
import { CommandFailure } from "../../terminal/failure.ts";
import { QUANTITIES, QUANTITY_NAMES, type QuantityName } from "./quantity.ts";

/** Changes that matter. A latency matters when it changes by more than both its ratio and `changeMs`. */
export interface Thresholds {
  /** Of percentiles and of the rate, in parts of A; of errors in shares of all requests. */
  readonly changeRatio: Readonly<Record<QuantityName, number>>;
  /** Of percentiles. */
  readonly changeMs: number;
}

const CHANGE_RATIO = 0.05;
const ERRORS_RATIO = 0.001;

/** 5 % and 1 ms; of errors 0.1 % of the requests. */
export const DEFAULT_THRESHOLDS: Thresholds = {
  changeRatio: {
    p50: CHANGE_RATIO,
    p90: CHANGE_RATIO,
    p99: CHANGE_RATIO,
    "p99.9": CHANGE_RATIO,
    errors: ERRORS_RATIO,
    rate: CHANGE_RATIO,
  },
  changeMs: 1,
};

/** On the quantity's scale, above 0: of a baseline of 4 ms, 1 ms is 25 % and goes before 5 %. */
export function thresholdOf(
  { changeRatio, changeMs }: Thresholds,
  name: QuantityName,
  baseline: number,
): number {
  const ratio = changeRatio[name];
  if (QUANTITIES[name].unit !== "ms" || !Number.isFinite(baseline) || baseline <= 0) return ratio;
  return Math.max(ratio, changeMs / baseline);
}

/**
 * `5%`: every percentile and the rate. `2ms`: of percentiles. `p99.9=40%`, `errors=0.5%`: of one. Several at once, with commas; what comes last goes before.
 * Throws a {@link CommandFailure}.
 */
export function readThresholds(texts: readonly string[]): Thresholds {
  let { changeMs } = DEFAULT_THRESHOLDS;
  const changeRatio = { ...DEFAULT_THRESHOLDS.changeRatio };
  for (const text of texts.flatMap((list) => list.split(","))) {
    const [, named, value = ""] = /^\s*(?:([a-z\d.]+)\s*=)?\s*(\S+)\s*$/.exec(text) ?? [];
    const ms = readDurationMs(value);
    const ratio = readRatio(value);
    if (named === undefined && ms.ok && ms.value >= 0) changeMs = ms.value;
    else if (ratio.ok && ratio.value > 0) {
      const names = QUANTITY_NAMES.filter((name) =>
        named === undefined ? name !== "errors" : name === named,
      );
      if (names.length === 0) throw notAThreshold(text);
      for (const name of names) changeRatio[name] = ratio.value;
    } else throw notAThreshold(text);
  }
  return { changeRatio, changeMs };
}

function notAThreshold(text: string): CommandFailure {
  return new CommandFailure(
    `--threshold ${text}: no share or time above 0 with its unit, or no quantity`,
    `Write 5%, 1ms, or of one quantity (${QUANTITY_NAMES.join(", ")}) p99.9=40%.`,
  );
}
