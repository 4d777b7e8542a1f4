import { samplesForInterval } from "bobtail/plan";
import type { FleetStats } from "../fleet/fleet-options.ts";
import {
  failedCount,
  headlineQuantile,
  type LoadReport,
  type LoadSection,
  supportedQuantileMs,
} from "../load/load-report.ts";
import { headlineCount } from "../load/output/percentiles.ts";
import { showCount } from "../plan/figures.ts";
import { provenQuantile, provenRatio } from "./grade.ts";
import type { CellFigures, CpuCores, Percentile } from "./trial-report.ts";

/** What a machine that is late by more than this share of a mean service time has put into a p99.9 is its own. */
const MAX_LATE_P999_RATIO = 1;
/** The same for a p99 of sends, and of the fleet's replies. A request meets both, and the target's lateness, which nobody sees. */
export const MAX_LATENESS_RATIO = 0.2;
const MAX_FAILURE_KINDS = 4;

/** The fleet and the processes at one moment. */
export interface Moment {
  readonly atMs: number;
  readonly fleet: FleetStats;
  readonly targetCpuMs: number | undefined;
}

/** What a finished or stopped cell is judged by. */
export interface Measurement {
  readonly load: LoadReport;
  readonly before: Moment;
  readonly after: Moment;
  readonly sick: readonly number[];
  readonly factor: number;
  /** Of a healthy backend, stretched by the factor. */
  readonly meanMs: number;
}

export function figuresOf(measurement: Measurement): CellFigures {
  const { load, before, after, sick, factor } = measurement;
  const { measured } = load;
  const { ledger } = measured;
  const requests = ledger.sent + ledger.dropped;
  const failed = failedCount(ledger);
  const ended = ledger.ok + failed;
  const received = after.fleet.backends.map(
    (backend, i) => backend.received - (before.fleet.backends[i]?.received ?? 0),
  );
  const receivedByAll = received.reduce((sum, count) => sum + count, 0);
  const receivedBySick = sick.reduce((sum, i) => sum + (received[i] ?? 0), 0);
  const headline = (q: number): Percentile => divided(headlineQuantile(measured, q), factor);
  const success = (q: number): number | undefined =>
    over(supportedQuantileMs(measured.completed, q), factor);
  const sendLagP99Ms = over(supportedQuantileMs(measured.pacingLag, 0.99), factor);
  const replyLagP99Ms = over(after.fleet.replyLagP99Ms, factor);
  return {
    requests,
    failed,
    failedRatio: ratio(failed, ended),
    p50: headline(0.5),
    p99: headline(0.99),
    p999: headline(0.999),
    successOnly: { p50Ms: success(0.5), p99Ms: success(0.99), p999Ms: success(0.999) },
    provenP99Ms: over(provenMs(measured, 0.99), factor),
    provenP999Ms: isLateInTail(measurement) ? undefined : over(provenMs(measured, 0.999), factor),
    provenFailedRatio: provenRatio(failed, ended),
    sickShareRatio: ratio(receivedBySick, receivedByAll),
    extraRatio: ledger.sent === 0 ? 0 : receivedByAll / ledger.sent - 1,
    sendLagP99Ms,
    replyLagP99Ms,
    latenessRatio: (Math.max(sendLagP99Ms ?? 0, replyLagP99Ms ?? 0) * factor) / measurement.meanMs,
    cpu: cpuOf(measurement),
    failures: failuresOf(measured),
  };
}

/** Why a measurement says too little about the target, or more about this machine; sentences, none when it stands. */
export function doubtsOf({ load, after, meanMs }: Measurement): readonly string[] {
  const { check, measured } = load;
  const doubts = check.reasons.map((reason) => `The generator: ${reason}.`);
  const count = headlineCount(measured);
  if (!isGradable(count))
    doubts.push(
      `${showCount(count)} requests are too few for a grade, which takes ${showCount(FEWEST_REQUESTS)}: give more --seconds.`,
    );
  const late = [
    ["Requests", supportedQuantileMs(measured.pacingLag, 0.99)],
    ["The fleet's replies", after.fleet.replyLagP99Ms],
  ] as const;
  for (const [what, lagMs] of late)
    if (lagMs !== undefined && lagMs > MAX_LATENESS_RATIO * meanMs)
      doubts.push(
        `${what} left up to ${lagMs.toFixed(1)} ms late (p99), beside a mean service time of ${meanMs} ms.`,
      );
  return doubts;
}

/** Fewer have no p99: what fails is all that could be graded, and that would make an A of nothing. */
const FEWEST_REQUESTS: number = samplesForInterval(0.99);

export function isGradable(requests: number): boolean {
  return requests >= FEWEST_REQUESTS;
}

/**
 * A lower bound of a percentile with failures infinite. Where that has no value the failures are graded by
 * their share, and the time is that of the requests which were answered.
 */
function provenMs(section: LoadSection, quantile: number): number | undefined {
  if (headlineQuantile(section, quantile) === undefined) return undefined;
  const count = headlineCount(section);
  const proven = headlineQuantile(section, provenQuantile(quantile, count));
  if (proven !== "unbounded") return proven?.ms;
  const { completed } = section;
  return supportedQuantileMs(completed, provenQuantile(quantile, completed.count));
}

/** A machine that stood still for a hundredth of a second does so for one request in a thousand: its doing, not the target's. */
function isLateInTail({ load, meanMs }: Measurement): boolean {
  const lagMs = load.measured.pacingLag.quantile(0.999) / 1_000;
  return lagMs > MAX_LATE_P999_RATIO * meanMs;
}

function cpuOf({ load, before, after }: Measurement): CpuCores {
  const passedMs = after.atMs - before.atMs;
  const target =
    before.targetCpuMs === undefined || after.targetCpuMs === undefined
      ? undefined
      : (after.targetCpuMs - before.targetCpuMs) / passedMs;
  return {
    generator: load.check.cpuCores,
    fleet: (after.fleet.cpuMs - before.fleet.cpuMs) / passedMs,
    target,
  };
}

function failuresOf({ statuses, failures, ledger }: LoadSection): [string, number][] {
  const all: [string, number][] = [
    ...[...statuses]
      .filter(([status]) => status >= 400)
      .map(([s, n]): [string, number] => [`${s}`, n]),
    ...failures,
  ];
  if (ledger.timeouts > 0) all.push(["timeout", ledger.timeouts]);
  return all.sort((a, b) => b[1] - a[1]).slice(0, MAX_FAILURE_KINDS);
}

function divided(percentile: Percentile, factor: number): Percentile {
  if (percentile === undefined || percentile === "unbounded") return percentile;
  return { ms: percentile.ms / factor, bound: percentile.bound };
}

function over(ms: number | undefined, factor: number): number | undefined {
  return ms === undefined ? undefined : ms / factor;
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
