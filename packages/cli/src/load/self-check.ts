import type { LoadPlan } from "./load-plan.ts";
import type { LoadSection, SelfCheck } from "./load-report.ts";
import type { ShareResult } from "./share-result.ts";

/** Lag below it moves no percentile that matters. */
const MAX_LAG_MS = 2;
/** More of the response time than this makes the lag part of the figures. */
const MAX_LAG_RATIO = 0.1;
/** Of the response time; less is not worth a line. */
const QUEUEING_RATIO = 0.1;
const MIN_QUEUEING_MS = 1;

export interface Machine {
  readonly cpuCores: number;
  readonly descriptorLimit: number | undefined;
}

/** Looks at a run's own doing. Times in its sentences are p99. */
export function checkRun(
  plan: LoadPlan,
  measured: LoadSection,
  shares: readonly ShareResult[],
  { cpuCores, descriptorLimit }: Machine,
): SelfCheck {
  const sendLagP99Ms = p99Ms(measured.pacingLag);
  const reasons = [...droppedReasons(plan, measured), ...lagReasons(measured, sendLagP99Ms)];
  const delays = shares.map(({ health }) => health.loopDelayP99Ms).filter((ms) => ms >= 0);
  const floors = shares.map(({ probe }) => p99Ms(probe)).filter((ms) => ms >= 0);
  return {
    verdict: reasons.length === 0 ? "ok" : "generator-limited",
    reasons,
    notes: [...queueingNotes(plan, measured), ...pacingNotes(shares)],
    sendLagP99Ms,
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

function lagReasons({ all }: LoadSection, lagMs: number): string[] {
  const responseMs = p99Ms(all);
  // Without any answer there is nothing that the lag could hide in.
  if (!(lagMs > MAX_LAG_MS) || lagMs <= MAX_LAG_RATIO * responseMs) return [];
  const beside = Number.isNaN(responseMs) ? "" : ` beside a response time of ${show(responseMs)}`;
  return [`requests left up to ${show(lagMs)} late${beside}`];
}

function queueingNotes({ connections }: LoadPlan, { queueing, all }: LoadSection): string[] {
  const waitMs = p99Ms(queueing);
  if (!(waitMs > MIN_QUEUEING_MS) || waitMs <= QUEUEING_RATIO * p99Ms(all)) return [];
  return [
    `requests waited up to ${show(waitMs)} for one of ${connections} connections, which is part of the response time`,
  ];
}

function pacingNotes(shares: readonly ShareResult[]): string[] {
  if (!shares.some(({ fellBack }) => fellBack)) return [];
  return ["the pacing thread failed, so that timers, a millisecond apart, paced the requests"];
}

function p99Ms(histogram: LoadSection["all"]): number {
  return histogram.quantile(0.99) / 1_000;
}

function show(ms: number): string {
  return `${ms < 9.95 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
