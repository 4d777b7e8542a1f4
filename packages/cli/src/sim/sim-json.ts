import { fieldOf } from "./sim-figures.ts";
import type { ReportCell, ReportRow, SimReport } from "./sim-report.ts";

/** The report as one object; units are in the names, null is "not known" and says why. */
export function simJson(report: SimReport): Record<string, unknown> {
  return {
    schema: "bobtail.sim/1",
    version: report.version,
    scenario: report.name,
    title: report.title,
    source: report.source ?? null,
    runs: report.runs,
    seed: report.seed,
    scale: report.scale,
    set: report.sets,
    sweep: report.axes,
    partial: report.partial,
    done_runs: report.doneRuns,
    total_runs: report.totalRuns,
    intervals: report.intervals,
    rows: report.rows.map((row) => rowJson(report, row)),
    notes: report.notes,
  };
}

function rowJson(report: SimReport, row: ReportRow): Record<string, unknown> {
  const { results } = row;
  const values = report.columns.map((column) => [
    fieldOf(column),
    cellJson(row.cells[column.key] ?? { value: null }),
  ]);
  return {
    name: row.name,
    at: Object.fromEntries(report.axes.map(({ path }, i) => [path, row.at[i]])),
    runs: row.runs,
    values: Object.fromEntries(values) as Record<string, unknown>,
    counts:
      results === undefined
        ? null
        : {
            calls: results.all.callCount,
            failed: results.all.failedCount,
            attempts: results.all.attemptCount,
            hedges: results.all.hedgeCount,
            hedges_won: results.all.hedgeWonCount,
            retries: results.all.retryCount,
            failures: results.all.failures,
            skipped: results.all.skipped,
          },
    digests: results?.all.digests.filter((digest) => digest !== "") ?? [],
  };
}

function cellJson({ value, why, low, high, article, exact }: ReportCell): Record<string, unknown> {
  return {
    value,
    ...(value === null && why !== undefined && { reason: why }),
    low: low ?? null,
    high: high ?? null,
    ...(article !== undefined && { published: article }),
    ...(exact !== undefined && { exact }),
  };
}
