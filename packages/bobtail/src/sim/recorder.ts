import { nth } from "../core/assert.ts";
import { Histogram } from "../core/histogram.ts";
import type { Call, CallFailure } from "../policies/call.ts";
import type { Service } from "../policies/service.ts";
import type { Request, Root } from "./request.ts";
import type { Occupancy, SimResult } from "./result.ts";
import type { SimServer } from "./server.ts";

const BATCHES = 20;

interface Counted {
  attempts: number;
  hedges: number;
  hedgesWon: number;
  retries: number;
}

/** Keeps what a run shows while it goes. */
export class Recorder {
  private readonly batches: readonly Histogram[];
  private readonly perBatch: number;
  private readonly leaves: Histogram | undefined;
  private readonly hasRoots: boolean;
  private readonly failedAfter: Histogram;
  /** What is recorded into now: roots, or calls where there are no roots; and calls. */
  private batch: Histogram;
  private calls: Histogram;
  private recorded: number;
  private batchEnds: number;
  private failed: number;
  private rootFailed: number;
  private readonly failures: Record<string, number>;
  /** The integral of the calls under way over time, once all have settled: when they left less when they came. */
  private inSystemMs: number;
  private sojournMs: number;
  private startMs: number;
  private before: Counted | undefined;

  /** @param measured - root requests that will be recorded. */
  constructor(measured: number, hasRoots: boolean) {
    this.batches = Array.from({ length: BATCHES }, () => new Histogram());
    this.perBatch = measured / BATCHES;
    this.leaves = hasRoots ? new Histogram() : undefined;
    this.hasRoots = hasRoots;
    this.failedAfter = new Histogram();
    this.batch = nth(this.batches, 0);
    this.calls = this.leaves ?? this.batch;
    this.recorded = 0;
    this.batchEnds = this.perBatch;
    this.failed = 0;
    this.rootFailed = 0;
    this.failures = {};
    this.inSystemMs = 0;
    this.sojournMs = 0;
    this.startMs = 0;
    this.before = undefined;
  }

  started(nowMs: number): void {
    this.inSystemMs -= nowMs;
  }

  settled(c: Call, request: Request, nowMs: number): void {
    this.inSystemMs += nowMs;
    const ms = nowMs - c.startMs;
    this.sojournMs += ms;
    if (!request.measured) return;
    if (c.failure !== undefined) this.settledFailed(c.failure, ms);
    else this.calls.record(ms * 1000);
    if (!this.hasRoots && ++this.recorded >= this.batchEnds) this.nextBatch();
  }

  private settledFailed(failure: CallFailure, ms: number): void {
    this.failed++;
    this.failures[failure] = (this.failures[failure] ?? 0) + 1;
    this.failedAfter.record(ms * 1000);
  }

  rootSettled(root: Root, nowMs: number): void {
    if (!root.measured) return;
    if (root.failed > 0) this.rootFailed++;
    else this.batch.record((nowMs - root.startMs) * 1000);
    if (++this.recorded >= this.batchEnds) this.nextBatch();
  }

  /** Measuring begins. */
  begin(services: readonly Service[], servers: readonly SimServer[], nowMs: number): void {
    this.startMs = nowMs;
    this.before = countsOf(services);
    for (const server of servers) server.resetCounts(nowMs);
  }

  result(services: readonly Service[], servers: readonly SimServer[], nowMs: number): SimResult {
    const total = new Histogram();
    for (const batch of this.batches) total.add(batch);
    const latency = this.leaves ?? total;
    const counts = countsOf(services);
    const before = this.before ?? { attempts: 0, hedges: 0, hedgesWon: 0, retries: 0 };
    return {
      runs: 1,
      digests: [],
      callCount: latency.count + this.failed,
      failedCount: this.failed,
      failures: this.failures,
      attemptCount: counts.attempts - before.attempts,
      hedgeCount: counts.hedges - before.hedges,
      hedgeWonCount: counts.hedgesWon - before.hedgesWon,
      retryCount: counts.retries - before.retries,
      skipped: skippedOf(services),
      latency,
      failedAfter: this.failedAfter,
      root: this.leaves === undefined ? new Histogram() : total,
      rootFailedCount: this.rootFailed,
      batches: [...this.batches],
      servers: servers.map((server) => ({
        sentCount: server.sent,
        startedCount: server.started,
        busyMs: server.busyMs,
        workers: Number.isFinite(server.workers) ? server.workers : 0,
      })),
      measuredMs: nowMs - this.startMs,
      inSystemMs: this.inSystemMs,
      sojournMs: this.sojournMs,
      occupancy: occupancyOf(servers, nowMs),
    };
  }

  private nextBatch(): void {
    const index = Math.min(BATCHES - 1, Math.floor(this.recorded / this.perBatch));
    this.batch = nth(this.batches, index);
    this.calls = this.leaves ?? this.batch;
    this.batchEnds = (index + 1) * this.perBatch;
  }
}

function countsOf(services: readonly Service[]): Counted {
  const sum: Counted = { attempts: 0, hedges: 0, hedgesWon: 0, retries: 0 };
  for (const { machine } of services) {
    const { stats } = machine;
    sum.attempts += stats.attempts;
    sum.hedges += stats.hedges;
    sum.hedgesWon += stats.hedgesWon;
    sum.retries += stats.retries;
  }
  return sum;
}

function skippedOf(services: readonly Service[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const { machine } of services) {
    for (const [reason, count] of Object.entries(machine.stats.skipped))
      sum[reason] = (sum[reason] ?? 0) + count;
  }
  return sum;
}

function occupancyOf(servers: readonly SimServer[], nowMs: number): Occupancy | undefined {
  const first = servers[0]?.occupancyMs.length ?? 0;
  if (first === 0) return undefined;
  const heldMs = new Array<number>(first).fill(0);
  const seenCount = new Array<number>(first).fill(0);
  for (const server of servers) {
    server.note(nowMs);
    for (let i = 0; i < first; i++) {
      heldMs[i] = (heldMs[i] as number) + (server.occupancyMs[i] as number);
      seenCount[i] = (seenCount[i] as number) + (server.seen[i] as number);
    }
  }
  return { heldMs, seenCount };
}
