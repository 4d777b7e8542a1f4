import { failedCount, supportedQuantileMs } from "../load/load-report.ts";
import { type PhaseOutcome, ratio } from "./phase.ts";

/** Times are in ms, divided by the report's `factor`; undefined where the sample cannot support them. */
export interface DemoPhase {
  readonly name: PhaseOutcome["contender"]["name"];
  readonly label: string;
  /** Over completed requests. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly p999Ms: number | undefined;
  /** Every failure counted at its elapsed time. */
  readonly p99AllMs: number | undefined;
  readonly failedRatio: number;
  /** Of the requests that reached a backend, those that reached the slow one. */
  readonly slowShareRatio: number;
  /** Copies sent beyond one a request. */
  readonly extraRatio: number;
  readonly hedgesWon: number;
  /** Measured; those of the warm-up are not counted anywhere. */
  readonly requests: number;
  /** What the machine added: late sends, p99. */
  readonly sendLagP99Ms: number | undefined;
  readonly ownCpuCores: number;
  readonly fleetCpuCores: number;
}

export interface DemoReport {
  /** In the order in which they ran: round robin, then Bobtail. Fewer when the run was stopped. */
  readonly phases: readonly DemoPhase[];
  /** Every service time and the queue limit were longer by it and the rate lower, because the machine is slow; 1 is as intended. */
  readonly factor: number;
  /** Even so, the machine itself made requests wait, in the calibration or while it measured. */
  readonly isTooSlow: boolean;
  /** As if on a machine with factor 1. */
  readonly ratePerSec: number;
  readonly stalls: boolean;
  readonly hedge: boolean;
  /** The run was stopped before its time. */
  readonly partial: boolean;
}

export function summarise(outcome: PhaseOutcome, factor: number): DemoPhase {
  const { contender, load, calls, attempts, hedgesWon } = outcome;
  const { ledger, completed, all, failed, pacingLag } = load.measured;
  const ended = all.clone();
  ended.add(failed);
  if (ledger.dropped > 0) ended.record(load.plan.timeoutMs * 1_000, ledger.dropped);
  const inReportMs = (histogram: typeof all, quantile: number): number | undefined => {
    const ms = supportedQuantileMs(histogram, quantile);
    return ms === undefined ? undefined : ms / factor;
  };
  return {
    name: contender.name,
    label: contender.label,
    p50Ms: inReportMs(completed, 0.5),
    p99Ms: inReportMs(completed, 0.99),
    p999Ms: inReportMs(completed, 0.999),
    p99AllMs: inReportMs(ended, 0.99),
    failedRatio: ratio(failedCount(ledger), ledger.ok + failedCount(ledger)),
    slowShareRatio: ratio(outcome.receivedBySlow, outcome.receivedByAll),
    extraRatio: ratio(attempts - calls, calls),
    hedgesWon,
    requests: ledger.sent + ledger.dropped,
    sendLagP99Ms: inReportMs(pacingLag, 0.99),
    ownCpuCores: outcome.ownCpuCores,
    fleetCpuCores: outcome.fleetCpuCores,
  };
}

export interface DemoJson {
  readonly schema: "bobtail.demo/1";
  readonly phases: readonly DemoPhaseJson[];
  /** Only there when the run was stopped before its time. */
  readonly partial?: true;
}

interface DemoPhaseJson {
  readonly name: string;
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly p999_ms: number | null;
  readonly p99_all_ms: number | null;
  readonly failed_ratio: number;
  readonly slow_share_ratio: number;
  readonly extra_ratio: number;
  readonly hedges_won: number;
  readonly requests: number;
}

/** The object that `--json` prints. Null: the sample is too small to support that percentile. */
export function demoJson(report: DemoReport): DemoJson {
  const phases = report.phases.map((phase) => ({
    name: phase.name,
    p50_ms: rounded(phase.p50Ms),
    p99_ms: rounded(phase.p99Ms),
    p999_ms: rounded(phase.p999Ms),
    p99_all_ms: rounded(phase.p99AllMs),
    failed_ratio: phase.failedRatio,
    slow_share_ratio: phase.slowShareRatio,
    extra_ratio: phase.extraRatio,
    hedges_won: phase.hedgesWon,
    requests: phase.requests,
  }));
  return { schema: "bobtail.demo/1", phases, ...(report.partial ? { partial: true } : {}) };
}

function rounded(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms * 1_000) / 1_000;
}
