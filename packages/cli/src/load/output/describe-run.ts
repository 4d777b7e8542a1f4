import { showCount, showMs } from "../../plan/figures.ts";
import { showShort } from "../../sim/chart-scale.ts";
import type { RunRecord } from "./run-record.ts";
import { isConstantRate, meanRatePerSec, type RunSetup } from "./run-setup.ts";

/** What was asked of a run, in words: the target, the rate, the time. */
export function describeRun({ setup }: Pick<RunRecord, "setup">): string {
  return `${describeTargets(setup)}, ${describeRate(setup)} for ${seconds(setup.durationMs)}, seed ${setup.seed}`;
}

export function describeTargets({ targets }: RunSetup): string {
  const [first] = targets;
  if (first === undefined) return "no target";
  const shown = `${first.method} ${first.origin}${first.path}`;
  return targets.length === 1 ? shown : `${shown} and ${targets.length - 1} more`;
}

function describeRate(setup: RunSetup): string {
  const { profile, arrivals } = setup;
  const [first] = profile;
  const pattern = arrivals === "poisson" ? "Poisson" : "evenly spaced";
  if (setup.traceSha256 !== "")
    return `a trace of ${showCount(setup.plannedCount)} requests (${showRate(meanRatePerSec(setup))} on average)`;
  if (first === undefined) return "nothing";
  const last = profile.at(-1) ?? first;
  if (isConstantRate(setup)) return `${showRate(first.fromPerSec)} ${pattern}`;
  if (profile.length === 1)
    return `${showShort(first.fromPerSec)} to ${showRate(first.toPerSec)} ${pattern}`;
  return `${profile.length} steps from ${showShort(first.fromPerSec)} to ${showRate(last.toPerSec)} ${pattern}`;
}

export function showRate(perSec: number): string {
  return `${showShort(perSec)}/s`;
}

/** How long it took, and of what that was made. */
export function describeTimes(run: RunRecord): string {
  const { setup, warmupMs, runMs, drainMs, wallMs } = run;
  const warmup = `${seconds(warmupMs)} of warm-up (${setup.warmupReason}; not in the figures)`;
  return `${seconds(wallMs)} in all: ${warmup}, ${seconds(runMs)} measured, ${showMs(drainMs)} waiting for the last answers.`;
}

/** What was done of a run that was stopped. */
export function describePartial(run: RunRecord): string {
  const { runMs, setup } = run;
  const when =
    runMs <= 0
      ? "during the warm-up, before anything was measured"
      : runMs >= setup.durationMs
        ? "while the last answers were waited for"
        : `after ${seconds(runMs)} of ${seconds(setup.durationMs)}`;
  return `Partial: stopped ${when}. The figures are of what was sent by then.`;
}

function seconds(ms: number): string {
  return `${showShort(ms / 1_000)} s`;
}
