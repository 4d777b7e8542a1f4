import type { Histogram } from "bobtail/engine";
import { showQuantile } from "../plan/figures.ts";
import type { LoadPlan } from "./load-plan.ts";
import { type LoadSection, type SelfCheck, supportedQuantileMs } from "./load-report.ts";
import type { ShareResult } from "./share-result.ts";

/** Lag below it moves no percentile that matters. */
const MAX_LAG_MS = 2;
/** More of the response time than this makes the lag part of the figures. */
const MAX_LAG_RATIO = 0.1;
/** Of the response time; less is not worth a line. */
const QUEUEING_RATIO = 0.1;
const MIN_QUEUEING_MS = 1;
/** A run is judged at the first that its sample supports: of a hundred requests the p99 is the one that was slowest. */
const JUDGED_QUANTILES: readonly number[] = [0.99, 0.95, 0.9, 0.5];
/** So much of their lateness do the few wakes before a run support. */
const FLOOR_QUANTILE = 0.9;

export interface Machine {
  readonly cpuCores: number;
  readonly descriptorLimit: number | undefined;
}

/** Looks at a run's own doing. */
export function checkRun(
  plan: LoadPlan,
  measured: LoadSection,
  shares: readonly ShareResult[],
  { cpuCores, descriptorLimit }: Machine,
): SelfCheck {
  const reasons = [...droppedReasons(plan, measured), ...lagReasons(measured)];
  const delays = shares.map(({ health }) => health.loopDelayP99Ms).filter((ms) => ms >= 0);
  const floors = shares.flatMap(({ probe }) => supportedQuantileMs(probe, FLOOR_QUANTILE) ?? []);
  return {
    verdict: reasons.length === 0 ? "ok" : "generator-limited",
    reasons,
    notes: [...queueingNotes(plan, measured), ...pacingNotes(shares)],
    sendLagP99Ms: supportedQuantileMs(measured.pacingLag, 0.99) ?? Number.NaN,
    loopDelayP99Ms: delays.length === 0 ? Number.NaN : Math.max(...delays),
    cpuCores,
    gcPauseMs: shares.reduce((sum, { health }) => sum + health.gcPauseMs, 0),
    descriptorLimit,
    pacingFloorMs: floors.length === 0 ? undefined : Math.max(...floors),
  };
}

function droppedReasons({ maxInFlight }: LoadPlan, { ledger }: LoadSection): string[] {
  const { dropped, planned } = ledger;
  if (dropped === 0) return [];
  return [
    `${dropped} of ${planned} requests were dropped: ${maxInFlight} were already in flight (--max-in-flight)`,
  ];
}

function lagReasons({ pacingLag, all }: LoadSection): string[] {
  const judged = judgedQuantile(pacingLag);
  if (judged === undefined) return [];
  // Where every request failed at once, each is infinitely long, and no lag can change that.
  if (all.count === 0) return [];
  const { quantile, ms: lagMs } = judged;
  const responseMs = all.quantile(quantile) / 1_000;
  if (lagMs <= MAX_LAG_MS || lagMs <= MAX_LAG_RATIO * responseMs) return [];
  return [
    `requests left up to ${show(lagMs)} late beside a response time of ${show(responseMs)} (${showQuantile(quantile)})`,
  ];
}

function queueingNotes({ connections }: LoadPlan, { queueing, all }: LoadSection): string[] {
  const judged = judgedQuantile(queueing);
  if (judged === undefined) return [];
  const { quantile, ms: waitMs } = judged;
  const responseMs = all.quantile(quantile) / 1_000;
  if (waitMs <= MIN_QUEUEING_MS || waitMs <= QUEUEING_RATIO * responseMs) return [];
  return [
    `requests waited up to ${show(waitMs)} (${showQuantile(quantile)}) for one of ${connections} connections, which is part of the response time`,
  ];
}

/** Undefined: there are too few for any. */
function judgedQuantile(
  histogram: Histogram,
): { readonly quantile: number; readonly ms: number } | undefined {
  for (const quantile of JUDGED_QUANTILES) {
    const ms = supportedQuantileMs(histogram, quantile);
    if (ms !== undefined) return { quantile, ms };
  }
  return undefined;
}

function pacingNotes(shares: readonly ShareResult[]): string[] {
  if (!shares.some(({ fellBack }) => fellBack)) return [];
  return ["the pacing thread failed, so that timers, a millisecond apart, paced the requests"];
}

function show(ms: number): string {
  return `${ms < 9.95 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
