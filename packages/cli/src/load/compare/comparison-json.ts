import { toSnakeCase } from "../output/snake-case.ts";
import type { ComparedQuantity } from "./compare-runs.ts";
import type { SingleQuantity } from "./compare-singles.ts";
import type { ComparisonReport, RunsReport, SinglesReport } from "./comparison-report.ts";
import { isWorse } from "./comparison-report.ts";
import { summaryOf } from "./describe-comparison.ts";
import { QUANTITIES } from "./quantity.ts";

const COMPARE_SCHEMA = "bobtail.compare/1";

/**
 * A comparison as one object. Values have the unit that stands beside them, changes the scale: parts of A for `ratio`, shares for
 * `difference`. A value that is infinite, or a change that is not bounded, is null.
 */
export function comparisonJson(report: ComparisonReport): Record<string, unknown> {
  const { kind, version, nameA, nameB, setup } = report;
  // Each run has its own seed, and each side its own origin.
  const { seed: firstSeed, targets, ...shared } = setup;
  const head = {
    schema: COMPARE_SCHEMA,
    kind,
    version,
    a: nameA,
    b: nameB,
    setup: toSnakeCase({ firstSeed, paths: targets.map(({ path }) => path), ...shared }),
  };
  return kind === "runs" ? { ...head, ...runsJson(report) } : { ...head, ...singlesJson(report) };
}

function runsJson(report: RunsReport): Record<string, unknown> {
  const { comparison, partial, notes, steadyA, steadyB } = report;
  return {
    runs_a: comparison.runsA,
    runs_b: comparison.runsB,
    partial: partial !== "",
    partial_reason: partial === "" ? null : partial,
    level: comparison.level,
    confidence: comparison.confidence,
    worse: isWorse(report),
    summary: summaryOf(report),
    quantities: comparison.compared.map(quantityJson),
    not_compared: comparison.leftOut.map(({ name, needed }) => ({
      name,
      reason: `needs ${needed} requests a run`,
    })),
    steady_a: toSnakeCase(steadyA),
    steady_b: toSnakeCase(steadyB),
    notes,
  };
}

function quantityJson(one: ComparedQuantity): Record<string, unknown> {
  const { shift, verdict, threshold, findable, pValue, adjustedP } = one;
  const values = { valuesA: one.valuesA, valuesB: one.valuesB };
  return {
    ...unitsJson(one.name),
    verdict: verdict.kind,
    ...(toSnakeCase({
      medianA: one.medianA,
      medianB: one.medianB,
      change: shift.estimate,
      changeLow: shift.low,
      changeHigh: shift.high,
      threshold,
      pValue,
      adjustedP,
      largestChange: verdict.kind === "no-difference" ? verdict.largest : undefined,
      moreRuns: verdict.kind === "cannot-tell" ? verdict.moreRuns : undefined,
      moreRunsIfAsSeen: verdict.kind === "cannot-tell" ? verdict.moreRunsIfAsSeen : undefined,
      findableChange: findable,
      ...values,
    }) as Record<string, unknown>),
  };
}

function singlesJson({ singles, warnings }: SinglesReport): Record<string, unknown> {
  return {
    note: "single runs: describes these two runs only",
    warnings,
    block_ms: singles.blockMs,
    blocks: singles.blocks,
    without_intervals_reason: singles.withoutIntervals ?? null,
    quantities: singles.quantities.map(singleJson),
  };
}

function singleJson({
  name,
  valueA,
  valueB,
  change,
  interval,
}: SingleQuantity): Record<string, unknown> {
  const fields = { valueA, valueB, change, changeLow: interval?.low, changeHigh: interval?.high };
  return { ...unitsJson(name), ...(toSnakeCase(fields) as Record<string, unknown>) };
}

function unitsJson(name: ComparedQuantity["name"]): Record<string, unknown> {
  const { unit, scale } = QUANTITIES[name];
  return { name, unit, scale };
}
