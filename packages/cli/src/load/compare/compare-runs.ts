import { checkOption } from "bobtail/engine";
import { samplesForInterval } from "bobtail/plan";
import { hodgesLehmann, medianOf, onScale, type Shift } from "./hodges-lehmann.ts";
import { holm } from "./holm.ts";
import { QUANTITIES, QUANTITY_NAMES, type QuantityName, type RunFigures } from "./quantity.ts";
import { fewestRuns, leftOutDifferences, rankSumPValue } from "./rank-sum.ts";
import { changeFound, pooledSpread, runsNeeded } from "./runs-needed.ts";
import { DEFAULT_THRESHOLDS, type Thresholds, thresholdOf } from "./threshold.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

export interface CompareOptions {
  /** Default all. Fewer need fewer runs: what is not asked takes no share of the level. */
  readonly quantities?: readonly QuantityName[] | undefined;
  readonly thresholds?: Thresholds | undefined;
  /** Of false calls in all quantities together; in (0, 1), default 0.05. */
  readonly level?: number | undefined;
}

export interface ComparedQuantity {
  readonly name: QuantityName;
  /** In the order of the runs. */
  readonly valuesA: readonly number[];
  readonly valuesB: readonly number[];
  readonly medianA: number;
  readonly medianB: number;
  /** Its interval holds for all quantities together. */
  readonly shift: Shift;
  readonly pValue: number;
  /** By Holm, over all that are compared. */
  readonly adjustedP: number;
  /** The change that matters, on the quantity's scale. */
  readonly threshold: number;
  /** About what so many runs find or rule out, on the quantity's scale; undefined where runs are infinite or too few. */
  readonly findable: number | undefined;
  readonly verdict: Verdict;
}

export interface Comparison {
  readonly runsA: number;
  readonly runsB: number;
  readonly level: number;
  /** Of each interval: 1 - level / quantities. */
  readonly confidence: number;
  readonly compared: readonly ComparedQuantity[];
  /** Percentiles for which the runs are too small, with what they need. */
  readonly leftOut: readonly { readonly name: QuantityName; readonly needed: number }[];
}

/**
 * Two sides, one value a run and quantity. `worse` and `better` are called when Holm's p-value is at most the level and the estimate beyond the
 * threshold; `no-difference` when the whole interval lies within it, never for want of evidence.
 *
 * Throws `ERR_BOBTAIL_OPTION` for a side without runs or with more than 100, and for a level out of range.
 */
export function compareRuns(
  runsA: readonly RunFigures[],
  runsB: readonly RunFigures[],
  options: CompareOptions = {},
): Comparison {
  const { quantities = QUANTITY_NAMES, thresholds = DEFAULT_THRESHOLDS, level = 0.05 } = options;
  checkOption({ level }, "in (0, 1)", level > 0 && level < 1);
  const all = [...runsA, ...runsB];
  const isSupported = (name: QuantityName): boolean => all.every((run) => run[name] !== undefined);
  const names = quantities.filter(isSupported);
  const sides = names.map((name) => ({
    name,
    valuesA: runsA.map((run) => run[name] as number),
    valuesB: runsB.map((run) => run[name] as number),
  }));
  const pValues = sides.map(({ valuesA, valuesB }) => rankSumPValue(valuesA, valuesB));
  const adjusted = holm(pValues);
  const family = { familySize: names.length, level };
  const leftOut = leftOutDifferences(runsA.length, runsB.length, level / Math.max(1, names.length));
  return {
    runsA: runsA.length,
    runsB: runsB.length,
    level,
    confidence: 1 - level / Math.max(1, names.length),
    compared: sides.map((side, i) => ({
      ...judge(side, { thresholds, family, leftOut, adjustedP: adjusted[i] as number }),
      pValue: pValues[i] as number,
    })),
    leftOut: quantities
      .filter((name) => !isSupported(name))
      .map((name) => ({ name, needed: samplesForInterval(QUANTITIES[name].quantile ?? 0.5) })),
  };
}

type Side = Pick<ComparedQuantity, "name" | "valuesA" | "valuesB">;

function judge(
  side: Side,
  {
    thresholds,
    family,
    leftOut,
    adjustedP,
  }: {
    readonly thresholds: Thresholds;
    readonly family: { readonly familySize: number; readonly level: number };
    readonly leftOut: number;
    readonly adjustedP: number;
  },
): Omit<ComparedQuantity, "pValue"> {
  const { name, valuesA, valuesB } = side;
  const { scale } = QUANTITIES[name];
  const medianA = medianOf([...valuesA].sort(ascending));
  const medianB = medianOf([...valuesB].sort(ascending));
  const shift = hodgesLehmann(valuesA, valuesB, { scale, leftOut });
  const threshold = thresholdOf(thresholds, name, medianA);
  const spread = pooledSpread(
    [valuesA, valuesB].map((values) => values.map((value) => onScale(value, scale))),
  );
  const runs = Math.min(valuesA.length, valuesB.length);
  const needed = (change: number): number | undefined =>
    spread === undefined ? undefined : runsNeeded({ ...family, spread, change });
  const scaled = (size: number): number => Math.abs(scale === "ratio" ? Math.log1p(size) : size);
  // Too few runs call nothing, however small the spread.
  const found =
    spread === undefined || runs < fewestRuns(family.familySize, family.level)
      ? undefined
      : changeFound(runs, { ...family, spread });
  return {
    ...side,
    medianA,
    medianB,
    shift,
    adjustedP,
    threshold,
    findable: found === undefined || scale === "difference" ? found : Math.expm1(found),
    verdict: verdictOf({
      shift,
      threshold,
      isCalled: adjustedP <= family.level,
      worse: QUANTITIES[name].worse,
      runs,
      neededFor: (size) => needed(scaled(size)),
    }),
  };
}

function ascending(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
