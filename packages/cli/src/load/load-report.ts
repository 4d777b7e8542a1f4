import { Histogram } from "bobtail/engine";
import { samplesForInterval } from "bobtail/plan";
import type { LoadPlan } from "./load-plan.ts";

/** Where every planned request went: planned = sent + dropped + unsent, sent = the five below it. */
export interface Ledger {
  planned: number;
  sent: number;
  /** Not sent because `maxInFlight` was reached. */
  dropped: number;
  /** Not sent because the run was stopped before its time. */
  unsent: number;
  /** Answered below 400, with a whole body. */
  ok: number;
  /** Answered 400 or above, with a whole body. */
  httpErrors: number;
  /** Refused, reset, cut short, or no HTTP. */
  transportErrors: number;
  timeouts: number;
  /** Sent, and neither answered nor timed out when the run was stopped. */
  openAtEnd: number;
}

/** A part of a run: its warm-up, or what is measured. Times are in whole microseconds. */
export interface LoadSection {
  readonly ledger: Ledger;
  /** Response time: from the planned send to the last byte, of requests that ended well. */
  readonly completed: Histogram;
  /**
   * The same, and timeouts and requests open at the end at their elapsed time, which is a lower bound. Requests that
   * failed or were dropped are not in it: they took for ever ({@link infiniteCount}).
   */
  readonly all: Histogram;
  /** From the planned send to the failure, of HTTP and transport errors. */
  readonly failed: Histogram;
  /** From the request written to the last byte, of requests that ended well. */
  readonly service: Histogram;
  /** From the planned send to the request handed to the sender: what the generator itself added. */
  readonly pacingLag: Histogram;
  /** From handed over to written: waiting for a connection. */
  readonly queueing: Histogram;
  /** From the planned send to written: the two before it together. */
  readonly sendLag: Histogram;
  /** Each new connection (name, TCP and TLS), once. */
  readonly connect: Histogram;
  /** From written to the response's head; of event streams, to the first event. */
  readonly firstByte: Histogram;
  /** Of event streams: between events. */
  readonly eventGap: Histogram;
  /** Whole answers by status. */
  readonly statuses: Map<number, number>;
  /** Transport errors by kind: `ECONNREFUSED`, `cut short`. At most 32 kinds, then `other`. */
  readonly failures: Map<string, number>;
}

/** A slice of what was measured. Requests belong to the slice in which they were planned to be sent. */
export interface LoadInterval {
  /** From the start of measuring. */
  readonly startMs: number;
  readonly lengthMs: number;
  /** As {@link LoadSection.all}. Decoded from a few bytes at each access. */
  readonly all: Histogram;
  /** As {@link infiniteCount}. */
  readonly infinite: number;
  readonly sent: number;
  readonly dropped: number;
}

/** Whether the generator or the machine it runs on, and not the target, made the figures what they are. */
export interface SelfCheck {
  readonly verdict: "ok" | "generator-limited";
  /** One sentence each; empty when ok. */
  readonly reasons: readonly string[];
  /** Worth a line, and no reason against the run: requests that waited for a connection. */
  readonly notes: readonly string[];
  /** What pacing added (`pacingLag`, p99 of what was measured); NaN where too few were sent to tell. */
  readonly sendLagP99Ms: number;
  /** How late this thread's timers were, the worst sending thread's; NaN for runs too short to tell. */
  readonly loopDelayP99Ms: number;
  /** Used by this whole process, all threads, while the run lasted. */
  readonly cpuCores: number;
  /** In all sending threads together. */
  readonly gcPauseMs: number;
  /** Open files that this process may have; undefined where the system does not say. */
  readonly descriptorLimit: number | undefined;
  /** How late the pacing is on this machine with nothing else to do, p90; undefined when it was not looked at. */
  readonly pacingFloorMs: number | undefined;
}

export interface LoadReport {
  readonly warmup: LoadSection;
  readonly measured: LoadSection;
  /** From the start to the last answer: the three below together. */
  readonly wallMs: number;
  readonly warmupMs: number;
  /** What is measured: its planned duration, or up to where it was stopped. */
  readonly runMs: number;
  /** Waiting for answers after the last moment that was planned. */
  readonly drainMs: number;
  /** The run was stopped before its time. */
  readonly partial: boolean;
  readonly intervals: readonly LoadInterval[];
  readonly check: SelfCheck;
  readonly plan: LoadPlan;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
}

export function emptySection(planned: number): LoadSection {
  return {
    ledger: {
      planned,
      sent: 0,
      dropped: 0,
      unsent: 0,
      ok: 0,
      httpErrors: 0,
      transportErrors: 0,
      timeouts: 0,
      openAtEnd: 0,
    },
    completed: new Histogram(),
    all: new Histogram(),
    failed: new Histogram(),
    service: new Histogram(),
    pacingLag: new Histogram(),
    queueing: new Histogram(),
    sendLag: new Histogram(),
    connect: new Histogram(),
    firstByte: new Histogram(),
    eventGap: new Histogram(),
    statuses: new Map(),
    failures: new Map(),
  };
}

/** Requests that were sent, or should have been, and did not end well. */
export function failedCount(ledger: Ledger): number {
  const { dropped, httpErrors, transportErrors, timeouts } = ledger;
  return dropped + httpErrors + transportErrors + timeouts;
}

/** Requests that no waiting would have brought an answer: they count as infinitely long. */
export function infiniteCount({ ledger }: Pick<LoadSection, "ledger">): number {
  return ledger.httpErrors + ledger.transportErrors + ledger.dropped;
}

/** A bucket of a histogram is at most 1/128 of its values wide: two that are nearer than this are the same to it. */
const SAME_BUCKET_RATIO: number = 1 + 1 / 64;

/** A percentile of all planned requests. `at-least`: requests that were given up lie below it, and took longer than is known. */
export interface HeadlineQuantile {
  readonly ms: number;
  readonly bound: "exact" | "at-least";
}

/**
 * The value of rank ceil(q n) among all requests that were sent or dropped, where failed and dropped ones are infinitely
 * long and given-up ones at least as long as they were waited for.
 *
 * @param q - in (0, 1), else `ERR_BOBTAIL_OPTION`.
 * @returns `unbounded`: the rank lies among the failed and dropped. Undefined: the sample is too small for it.
 */
export function headlineQuantile(
  section: Pick<LoadSection, "ledger" | "all" | "completed">,
  q: number,
): HeadlineQuantile | "unbounded" | undefined {
  const { all, completed } = section;
  const count = all.count + infiniteCount(section);
  if (!isSupported(count, q)) return undefined;
  const rank = Math.ceil(q * count * (1 - 4 * Number.EPSILON));
  if (rank > all.count) return "unbounded";
  const micros = valueOfRank(all, rank);
  // The truth lies between two readings of those given up: answered at once, or never.
  const most = rank > completed.count ? Number.POSITIVE_INFINITY : valueOfRank(completed, rank);
  return { ms: micros / 1_000, bound: most <= micros * SAME_BUCKET_RATIO ? "exact" : "at-least" };
}

/** In milliseconds; undefined where the sample is too small to support the quantile. */
export function supportedQuantileMs(histogram: Histogram, quantile: number): number | undefined {
  if (!isSupported(histogram.count, quantile)) return undefined;
  return histogram.quantile(quantile) / 1_000;
}

/** Fewer leave the quantile without a finite 95 % interval: 368 for p99, 36,887 for p99.99. */
function isSupported(count: number, quantile: number): boolean {
  return count >= samplesForInterval(quantile);
}

function valueOfRank(histogram: Histogram, rank: number): number {
  return histogram.quantile(Math.min(1, rank / histogram.count));
}
