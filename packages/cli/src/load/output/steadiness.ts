import { steadyStateOf } from "../compare/steady-state.ts";
import type { RunRecord } from "./run-record.ts";

/** What keeps a run from being one figure: that it had not settled. Undefined: it had, or it is too short to tell, or was not to. */
export function unsteadiness({ intervals, setup }: RunRecord): string | undefined {
  const rate = setup.profile[0]?.fromPerSec;
  const isConstant =
    setup.traceSha256 === "" &&
    setup.profile.every(({ fromPerSec, toPerSec }) => fromPerSec === rate && toPerSec === rate);
  const p90s = intervals.filter(({ all }) => all.count > 0).map(({ all }) => all.quantile(0.9));
  if (!isConstant) return undefined;
  const state = steadyStateOf([p90s]);
  switch (state.kind) {
    case "no-steady-state":
      return `No steady state: the p90 was still going ${state.direction} in the last third of the run. Its percentiles are of a moment, and a longer run will have others.`;
    case "warming-up":
      return `Still warming up: the first ${state.values} intervals differ by more than a tenth from the rest. Give a longer --warmup.`;
    default:
      return undefined;
  }
}
