import type { BackendCounts } from "../fleet/backend-counts.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { type LoadRun, startLoad } from "../load/load.ts";
import { failedCount, type LoadReport, supportedQuantileMs } from "../load/load-report.ts";
import type { DemoPlan } from "./demo-options.ts";
import { type Contender, openStage, type Stage } from "./stage.ts";

const PROGRESS_EVERY_MS = 500;

export interface PhaseTiming {
  /** Above the progress of this phase. */
  readonly label: string;
  readonly warmupMs: number;
  readonly durationMs: number;
  /** Times are longer by it on this machine than in the report. */
  readonly factor: number;
}

/** What one contender did from the end of its warm-up to its last answer. */
export interface PhaseOutcome {
  readonly contender: Contender;
  readonly load: LoadReport;
  readonly calls: number;
  readonly attempts: number;
  readonly hedgesWon: number;
  readonly receivedBySlow: number;
  readonly receivedByAll: number;
  /** How late the fleet's replies left, warm-up included. */
  readonly replyLagP99Ms: number;
  /** Time used by this process (generator and proxy) and by the fleet's, in cores. */
  readonly ownCpuCores: number;
  readonly fleetCpuCores: number;
}

/** One contender before a fresh fleet. `plan` is already stretched by `timing.factor`. */
export async function runPhase(
  contender: Contender,
  fleet: Fleet,
  plan: DemoPlan,
  timing: PhaseTiming,
): Promise<PhaseOutcome> {
  await fleet.reset();
  const stage = await openStage(contender, fleet);
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  plan.signal.addEventListener("abort", abort, { once: true });
  if (plan.signal.aborted) abort();
  let run: LoadRun | undefined;
  let ticker: NodeJS.Timeout | undefined;
  try {
    let before = lookAt(stage, fleet);
    run = startLoad({
      url: stage.url,
      ratePerSec: plan.ratePerSec,
      warmupMs: timing.warmupMs,
      durationMs: timing.durationMs,
      seed: plan.seed,
      signal: stop.signal,
      onMeasure() {
        before = lookAt(stage, fleet);
        // Awaited after the run; a fleet that is gone by then has its own message.
        before.catch(() => {});
      },
    });
    before.catch(() => {});
    const { measured, elapsedMs } = run;
    const tick = (): void => plan.onProgress(progressOf(timing, measured, elapsedMs(), stage));
    ticker = setInterval(tick, PROGRESS_EVERY_MS);
    const load = await Promise.race([run.report, fleet.ended]);
    if (load === undefined) throw new Error("the fleet's process ended unexpectedly");
    return outcomeOf(contender, load, await before, await lookAt(stage, fleet));
  } finally {
    clearInterval(ticker);
    plan.signal.removeEventListener("abort", abort);
    stop.abort();
    await run?.report;
    await stage.close();
  }
}

interface Moment {
  readonly atMs: number;
  readonly calls: number;
  readonly attempts: number;
  readonly hedgesWon: number;
  readonly ownCpuMs: number;
  readonly fleetCpuMs: number;
  readonly backends: readonly BackendCounts[];
  readonly replyLagP99Ms: number;
}

async function lookAt(stage: Stage, fleet: Fleet): Promise<Moment> {
  const { calls, attempts, hedges_won: hedgesWon } = stage.counts();
  const { user, system } = process.cpuUsage();
  const atMs = performance.now();
  const { backends, cpuMs, replyLagP99Ms = 0 } = await fleet.stats();
  const ownCpuMs = (user + system) / 1_000;
  return { atMs, calls, attempts, hedgesWon, ownCpuMs, fleetCpuMs: cpuMs, backends, replyLagP99Ms };
}

function outcomeOf(
  contender: Contender,
  load: LoadReport,
  before: Moment,
  after: Moment,
): PhaseOutcome {
  const received = after.backends.map((b, i) => b.received - (before.backends[i]?.received ?? 0));
  const wallMs = after.atMs - before.atMs;
  return {
    contender,
    load,
    calls: after.calls - before.calls,
    attempts: after.attempts - before.attempts,
    hedgesWon: after.hedgesWon - before.hedgesWon,
    receivedBySlow: received[0] ?? 0,
    receivedByAll: received.reduce((sum, count) => sum + count, 0),
    replyLagP99Ms: after.replyLagP99Ms,
    ownCpuCores: (after.ownCpuMs - before.ownCpuMs) / wallMs,
    fleetCpuCores: (after.fleetCpuMs - before.fleetCpuMs) / wallMs,
  };
}

function progressOf(
  timing: PhaseTiming,
  measured: LoadRun["measured"],
  elapsedMs: number,
  stage: Stage,
): Parameters<DemoPlan["onProgress"]>[0] {
  const { label, warmupMs, durationMs, factor } = timing;
  const { completed, ledger } = measured;
  const { endpoints } = stage.counts();
  const picks = endpoints.reduce((sum, e) => sum + e.picks, 0);
  const inReportMs = (quantile: number): number | undefined => {
    const ms = supportedQuantileMs(completed, quantile);
    return ms === undefined ? undefined : ms / factor;
  };
  return {
    label,
    elapsedMs: Math.min(elapsedMs, warmupMs + durationMs),
    totalMs: warmupMs + durationMs,
    warmingUp: ledger.sent === 0,
    requests: ledger.sent,
    p50Ms: inReportMs(0.5),
    p99Ms: inReportMs(0.99),
    failedRatio: ratio(failedCount(ledger), ledger.ok + failedCount(ledger)),
    slowShareRatio: ratio(endpoints[0]?.picks ?? 0, picks),
  };
}

export function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
