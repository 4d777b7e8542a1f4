import { toSnakeCase } from "../load/output/snake-case.ts";
import type { CellFigures, Percentile, TrialCell, TrialReport } from "./trial-report.ts";

/**
 * The object that `--json` prints. Times are in ms at factor 1; null: the sample does not support it, or the
 * system does not say. A percentile among the failures is null too, with the bound `unbounded`.
 */
export function trialJson(report: TrialReport): unknown {
  const { version, command, setup, partial, plannedCells } = report;
  return toSnakeCase({
    schema: "bobtail.trial/1",
    version,
    command,
    partial,
    plannedCells,
    setup,
    targets: report.targets,
    scenarios: report.scenarios,
    cells: report.cells.map(cellJson),
  });
}

function cellJson({ figures, ...cell }: TrialCell): Record<string, unknown> {
  return { ...cell, figures: figures === undefined ? undefined : figuresJson(figures) };
}

function figuresJson({ p50, p99, p999, failures, ...rest }: CellFigures): Record<string, unknown> {
  return {
    ...percentileJson("p50", p50),
    ...percentileJson("p99", p99),
    ...percentileJson("p999", p999),
    ...rest,
    failures: failures.map(([kind, requests]) => ({ kind, requests })),
  };
}

function percentileJson(name: string, percentile: Percentile): Record<string, unknown> {
  if (percentile === undefined) return { [`${name}Ms`]: undefined, [`${name}Bound`]: undefined };
  return percentile === "unbounded"
    ? { [`${name}Ms`]: undefined, [`${name}Bound`]: percentile }
    : { [`${name}Ms`]: percentile.ms, [`${name}Bound`]: percentile.bound };
}
