import { p90Series } from "../compare/run-figures.ts";
import { type SteadyState, steadyStateOf } from "../compare/steady-state.ts";
import type { LoadInterval } from "../load-report.ts";
import type { RunRecord } from "./run-record.ts";
import { isConstantRate } from "./run-setup.ts";

/** Of runs of one set-up together. Of a load that changes by itself there is no steady state to look for. */
export function steadinessOf(runs: readonly RunRecord[]): SteadyState {
  return runs.every(({ setup }) => isConstantRate(setup))
    ? steadyStateOf(runs.flatMap(seriesOf))
    : { kind: "steady" };
}

/** Of merged runs each has a segment of its own, and says nothing of the start or the end of the next. */
function seriesOf(run: RunRecord): readonly (readonly number[])[] {
  if (run.partial) return [p90Series(run)];
  let endMs = 0;
  return run.setup.profile.map(({ durationMs }) => {
    const startMs = endMs;
    endMs += durationMs;
    const isIn = ({ startMs: atMs }: LoadInterval): boolean => atMs >= startMs && atMs < endMs;
    return p90Series({ ...run, intervals: run.intervals.filter(isIn) });
  });
}

/** What keeps a run from being one figure: that it had not settled. Undefined: it had, or it is too short to tell, or was not to. */
export function unsteadiness(run: RunRecord): string | undefined {
  const state = steadinessOf([run]);
  switch (state.kind) {
    case "no-steady-state":
      return `No steady state: the p90 was still going ${state.direction} in the last third of the run. Its percentiles are of a moment, and a longer run will have others.`;
    case "warming-up":
      return `Still warming up: the first ${state.values} intervals differ by more than a tenth from the rest. Give a longer --warmup.`;
    default:
      return undefined;
  }
}
