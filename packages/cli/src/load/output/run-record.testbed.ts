import { Histogram, seededRng } from "bobtail/engine";
import type { LoadOptions } from "../load-options.ts";
import { checkLoadOptions } from "../load-plan.ts";
import {
  emptySection,
  type LoadInterval,
  type LoadSection,
  type SelfCheck,
} from "../load-report.ts";
import type { RunRecord } from "./run-record.ts";
import { setupOf } from "./run-setup.ts";

const OK_CHECK: SelfCheck = {
  verdict: "ok",
  reasons: [],
  notes: [],
  sendLagP99Ms: 0.2,
  loopDelayP99Ms: 1.1,
  cpuCores: 0.12,
  gcPauseMs: 3,
  descriptorLimit: 65_536,
  pacingFloorMs: 0.4,
};

export interface InventedRun {
  readonly options?: Partial<LoadOptions>;
  /** Response time of the i-th planned request, in ms; or what else became of it. */
  readonly outcome?: (
    i: number,
  ) => number | "http-error" | "refused" | "dropped" | "timeout" | "open" | "unsent";
  readonly check?: Partial<SelfCheck>;
  readonly verdicts?: RunRecord["verdicts"];
}

/** A run as the engine would report it, with what the test says became of each request. */
export function inventedRun({
  options,
  outcome = () => 2,
  check = {},
  verdicts = [],
}: InventedRun = {}): RunRecord {
  const plan = checkLoadOptions({
    url: "http://127.0.0.1:8080/a",
    ratePerSec: 100,
    durationMs: 10_000,
    warmupMs: 5_000,
    ...options,
  });
  const measured = emptySection(plan.count);
  const intervals = Array.from(
    { length: Math.ceil(plan.durationMs / plan.intervalMs) },
    (_, i) => ({
      startMs: i * plan.intervalMs,
      lengthMs: plan.intervalMs,
      all: new Histogram(),
      infinite: 0,
      sent: 0,
      dropped: 0,
    }),
  );
  const rng = seededRng(7);
  for (let i = 0; i < plan.count; i++) {
    const interval = intervals[Math.floor((i / plan.count) * intervals.length)];
    if (interval !== undefined)
      book(measured, interval, { became: outcome(i), timeoutMs: plan.timeoutMs, lag: rng.next() });
  }
  const warmup = emptySection(plan.warmupCount);
  for (let i = 0; i < plan.warmupCount; i++)
    book(
      warmup,
      { all: new Histogram(), infinite: 0, sent: 0, dropped: 0 },
      { became: 3, timeoutMs: 1, lag: 0 },
    );
  const unsent = measured.ledger.unsent > 0;
  return {
    version: "0.1.0",
    setup: setupOf(plan, "as asked"),
    warmup,
    measured,
    wallMs: plan.warmupMs + plan.durationMs + 4,
    warmupMs: plan.warmupMs,
    runMs: plan.durationMs,
    drainMs: 4,
    partial: unsent,
    intervals,
    check: { ...OK_CHECK, ...check },
    startedAt: "2026-01-02T03:04:05.678Z",
    verdicts,
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function book(
  section: LoadSection,
  interval: Pick<Mutable<LoadInterval>, "all" | "infinite" | "sent" | "dropped">,
  {
    became,
    timeoutMs,
    lag,
  }: { became: ReturnType<NonNullable<InventedRun["outcome"]>>; timeoutMs: number; lag: number },
): void {
  const { ledger } = section;
  if (became === "unsent") {
    ledger.unsent++;
    return;
  }
  if (became === "dropped") {
    ledger.dropped++;
    interval.dropped++;
    interval.infinite++;
    return;
  }
  ledger.sent++;
  interval.sent++;
  section.sendLag.record(lag * 1_000);
  section.pacingLag.record(lag * 1_000);
  section.queueing.record(0);
  if (became === "http-error" || became === "refused") {
    interval.infinite++;
    section.failed.record(1_000);
    if (became === "refused") {
      ledger.transportErrors++;
      section.failures.set("ECONNREFUSED", (section.failures.get("ECONNREFUSED") ?? 0) + 1);
      return;
    }
    ledger.httpErrors++;
    section.statuses.set(503, (section.statuses.get(503) ?? 0) + 1);
    return;
  }
  const ms = became === "timeout" || became === "open" ? timeoutMs : became;
  section.all.record(ms * 1_000);
  interval.all.record(ms * 1_000);
  if (became === "timeout") ledger.timeouts++;
  else if (became === "open") ledger.openAtEnd++;
  else {
    ledger.ok++;
    section.statuses.set(200, (section.statuses.get(200) ?? 0) + 1);
    section.completed.record(ms * 1_000);
    section.service.record(Math.max(0, ms - lag) * 1_000);
    section.firstByte.record(Math.max(0, ms - lag) * 900);
  }
}

/** Latencies with a body, a slow tenth, and a stall of half a second in the middle of the run. */
export function stalledMs(count: number, seed = 3): (i: number) => number {
  const rng = seededRng(seed);
  return (i) => {
    const body = 2 * Math.exp(0.5 * (rng.next() + rng.next() + rng.next() - 1.5) * 2);
    const intoStall = (i - count / 2) / count;
    const stall = intoStall > 0 && intoStall < 0.05 ? 500 * (1 - intoStall / 0.05) : 0;
    return body + stall + (rng.next() < 0.1 ? 8 : 0);
  };
}

/** Of every fate some, a condition that failed, and a self-check that does not know everything. */
export function mixedRun(): RunRecord {
  const latency = stalledMs(1_000);
  return inventedRun({
    outcome: (i) =>
      i % 50 === 0
        ? "http-error"
        : i % 50 === 1
          ? "refused"
          : i % 50 === 2
            ? "timeout"
            : latency(i),
    verdicts: [{ condition: "p99>50ms", verdict: "failed", measured: "unbounded" }],
    check: { sendLagP99Ms: Number.NaN, descriptorLimit: undefined },
  });
}
