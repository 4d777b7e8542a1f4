import { CommandFailure } from "../../terminal/failure.ts";
import { emptySection, type LoadSection } from "../load-report.ts";
import { sumSections } from "../section-codec.ts";
import type { RunRecord } from "./run-record.ts";
import { setupDifferences } from "./run-setup.ts";

interface Named {
  readonly file: string;
  readonly run: RunRecord;
}

/**
 * Runs of one set-up as one: counts and histograms are added, intervals come one after the other. Percentiles are
 * taken of the sum, never averaged. Throws a {@link CommandFailure} that names what differs.
 */
export function mergeRuns(all: readonly Named[]): RunRecord {
  const [first, ...rest] = all;
  if (first === undefined) throw new CommandFailure("nothing to merge", "Name files.");
  for (const { file, run } of rest) {
    const differs = setupDifferences(first.run.setup, run.setup);
    const isOtherTarget = originsOf(run) !== originsOf(first.run);
    if (differs.length > 0 || isOtherTarget)
      throw new CommandFailure(
        `${file} and ${first.file} cannot be merged: ${[...differs, ...(isOtherTarget ? ["target"] : [])].join(", ")} differs`,
        "Leave --merge out to see them side by side.",
      );
  }
  const runs = all.map(({ run }) => run);
  const starts = new Set(runs.map(({ startedAt }) => startedAt));
  if (starts.size < runs.length)
    throw new CommandFailure(
      "two of these files are of the same run, which would count twice",
      "Name each run once, as .json or as .hlog.",
    );
  const sum = (of: (run: RunRecord) => number): number =>
    runs.reduce((total, run) => total + of(run), 0);
  const worst = runs.find(({ check }) => check.verdict !== "ok") ?? first.run;
  const { setup } = first.run;
  return {
    ...first.run,
    setup: {
      ...setup,
      plannedCount: sum((run) => run.setup.plannedCount),
      durationMs: sum((run) => run.setup.durationMs),
      profile: runs.flatMap((run) => run.setup.profile),
    },
    measured: mergeSections(runs.map(({ measured }) => measured)),
    warmup: mergeSections(runs.map(({ warmup }) => warmup)),
    wallMs: sum(({ wallMs }) => wallMs),
    warmupMs: sum(({ warmupMs }) => warmupMs),
    runMs: sum(({ runMs }) => runMs),
    drainMs: sum(({ drainMs }) => drainMs),
    partial: runs.some(({ partial }) => partial),
    intervals: runs.flatMap((run, i) => {
      const afterMs = runs.slice(0, i).reduce((total, { runMs }) => total + runMs, 0);
      return run.intervals.map((one) => ({ ...one, all: one.all, startMs: one.startMs + afterMs }));
    }),
    check: worst.check,
    verdicts: [],
  };
}

function mergeSections(sections: readonly LoadSection[]): LoadSection {
  const merged = emptySection(0);
  sumSections(merged, sections);
  return merged;
}

function originsOf(run: RunRecord): string {
  return run.setup.targets.map(({ origin }) => origin).join(" ");
}
