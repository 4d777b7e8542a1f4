import { Histogram } from "bobtail/engine";
import type { LoadInterval } from "../load-report.ts";
import { emptySection } from "../load-report.ts";
import type { RunRecord } from "../output/run-record.ts";
import type { RunSetup } from "../output/run-setup.ts";

export const SETUP: RunSetup = {
  targets: [
    {
      method: "GET",
      origin: "http://127.0.0.1:1",
      path: "/",
      headers: [],
      bodyBytes: 0,
      bodySha256: "",
      weight: 1,
    },
  ],
  profile: [{ fromPerSec: 500, toPerSec: 500, durationMs: 60_000 }],
  traceSha256: "",
  plannedCount: 30_000,
  durationMs: 60_000,
  warmupMs: 5_000,
  warmupReason: "as asked",
  arrivals: "poisson",
  seed: 1,
  timeoutMs: 10_000,
  maxInFlight: 2_048,
  connections: 2_048,
  protocol: "http1",
  sse: false,
  workers: 1,
  pacing: "thread",
};

export interface RecordedRun {
  /** Of each second, what its requests took. */
  readonly secondsMs: readonly (readonly number[])[];
  /** In each second, on top. */
  readonly failed?: number;
  readonly timeouts?: number;
  readonly setup?: Partial<RunSetup>;
}

/** A run as a file holds it. */
export function recordedRun({
  secondsMs,
  failed = 0,
  timeouts = 0,
  setup = {},
}: RecordedRun): RunRecord {
  const count = secondsMs.reduce((sum, second) => sum + second.length + failed + timeouts, 0);
  const all = { ...SETUP, ...setup, plannedCount: count };
  const measured = emptySection(count);
  const { ledger } = measured;
  const intervals = secondsMs.map((second, i): LoadInterval => {
    const ok = new Histogram();
    for (const ms of second) ok.record(ms * 1_000);
    measured.completed.add(ok);
    measured.service.add(ok);
    if (timeouts > 0) ok.record(all.timeoutMs * 1_000, timeouts);
    measured.all.add(ok);
    const sent = second.length + failed + timeouts;
    return { startMs: i * 1_000, lengthMs: 1_000, all: ok, infinite: failed, sent, dropped: 0 };
  });
  ledger.sent = count;
  ledger.httpErrors = failed * secondsMs.length;
  ledger.timeouts = timeouts * secondsMs.length;
  ledger.ok = measured.completed.count;
  measured.statuses.set(200, ledger.ok);
  measured.statuses.set(503, ledger.httpErrors);
  if (ledger.httpErrors > 0) measured.failed.record(1_000, ledger.httpErrors);
  for (const clock of [measured.pacingLag, measured.queueing, measured.sendLag])
    clock.record(0, count);
  const runMs = secondsMs.length * 1_000;
  return {
    version: "1.0.0",
    setup: all,
    verdicts: [],
    warmup: emptySection(0),
    measured,
    intervals,
    partial: false,
    wallMs: runMs + all.warmupMs,
    warmupMs: all.warmupMs,
    runMs,
    drainMs: 0,
    check: {
      verdict: "ok",
      reasons: [],
      notes: [],
      sendLagP99Ms: 0.2,
      loopDelayP99Ms: 0.3,
      cpuCores: 0.1,
      gcPauseMs: 0,
      descriptorLimit: undefined,
      pacingFloorMs: undefined,
    },
    startedAt: "2026-01-01T00:00:00.000Z",
  };
}

/** The same requests every second, so the same percentiles in every run: 1 to 100 ms, times `factor`. */
export function evenSeconds(seconds: number, factor: number = 1): number[][] {
  return Array.from({ length: seconds }, () =>
    Array.from({ length: 100 }, (_, i) => (i + 1) * factor),
  );
}
