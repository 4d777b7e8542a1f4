import { descriptorLimit, fitDescriptors } from "./descriptor-limit.ts";
import { mergeIntervals } from "./interval-log.ts";
import type { LoadOptions } from "./load-options.ts";
import { checkLoadOptions, type LoadPlan } from "./load-plan.ts";
import { emptySection, type LoadReport, type LoadSection } from "./load-report.ts";
import { monotonicMs } from "./monotonic-clock.ts";
import { OpenLoop } from "./open-loop.ts";
import { startPacer, threadWaker } from "./pacing/pacer.ts";
import { START_LEAD_MS } from "./pacing/pacer-order.ts";
import { timerWaker } from "./pacing/waker.ts";
import { runThreads } from "./run-threads.ts";
import { WHOLE } from "./schedule.ts";
import { sumSections } from "./section-codec.ts";
import { checkRun } from "./self-check.ts";
import type { ShareResult } from "./share-result.ts";

export interface LoadRun {
  /** What goes wrong with requests is in the ledger. Rejects only when a sending thread dies, with a `CommandFailure`. */
  readonly report: Promise<LoadReport>;
  /** What has been counted so far, to be read only. With several threads it is up to half a second old. */
  readonly warmup: LoadSection;
  readonly measured: LoadSection;
  /** 0 until the first moment of the run. */
  elapsedMs(): number;
}

/** Times of the process at the first moment of the run. */
interface Start {
  readonly atMs: number;
  readonly startedAt: string;
  readonly cpu: NodeJS.CpuUsage;
}

/**
 * An open loop: requests leave at their planned moments however slow the answers are, and every time
 * runs from the planned moment, so that neither a slow server nor a late timer can hide a wait.
 *
 * Throws `ERR_BOBTAIL_OPTION` for the first option out of range, and a `CommandFailure` for more connections than the
 * process may have open files.
 */
export function startLoad(options: LoadOptions): LoadRun {
  const limit = descriptorLimit();
  const plan = fitDescriptors(checkLoadOptions(options), options, limit);
  const { signal = new AbortController().signal, onMeasure = () => {} } = options;
  const context = { plan, signal, onMeasure };
  return plan.workers === 1 ? runHere(context, limit) : runOnThreads(context, limit);
}

interface RunContext {
  readonly plan: LoadPlan;
  readonly signal: AbortSignal;
  onMeasure(): void;
}

function runHere({ plan, signal, onMeasure }: RunContext, limit: number | undefined): LoadRun {
  const { maxInFlight, connections } = plan;
  const loop = new OpenLoop({ plan, share: WHOLE, maxInFlight, connections, onMeasure });
  const { warmup, measured } = loop;
  const stop = (): void => loop.stop();
  const run = async (): Promise<LoadReport> => {
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    const pacer =
      plan.pacing === "thread" && !signal.aborted
        ? await startPacer(plan, 1).catch(() => undefined)
        : undefined;
    const [end] = pacer?.ends ?? [];
    if (end === undefined && plan.pacing === "thread") loop.fallBack();
    const start = startingNow();
    const over = loop.run(
      start.atMs,
      end === undefined ? timerWaker(monotonicMs) : threadWaker(end),
    );
    if (pacer !== undefined) {
      pacer.onFailure = () => loop.fallBack();
      pacer.start(start.atMs);
    }
    const share = await over;
    pacer?.stop();
    signal.removeEventListener("abort", stop);
    return assemble({ plan, warmup, measured, signal, start, limit }, [share]);
  };
  return { report: run(), warmup, measured, elapsedMs: () => Math.max(0, loop.elapsedMs()) };
}

function runOnThreads(context: RunContext, limit: number | undefined): LoadRun {
  const { plan, signal } = context;
  const [warmup, measured] = [emptySection(plan.warmupCount), emptySection(plan.count)];
  let start = startingNow();
  let isOver = false;
  let overMs = 0;
  let hasStarted = false;
  const run = async (): Promise<LoadReport> => {
    const onStart = (atMs: number): void => {
      start = { ...startingNow(), atMs };
      hasStarted = true;
    };
    const shares = await runThreads({ ...context, warmup, measured, onStart });
    isOver = true;
    overMs = Math.max(...shares.map((share) => share.overMs));
    sumSections(
      warmup,
      shares.map((share) => share.warmup),
    );
    sumSections(
      measured,
      shares.map((share) => share.measured),
    );
    return assemble({ plan, warmup, measured, signal, start, limit }, shares);
  };
  const elapsedMs = (): number => {
    if (isOver) return overMs;
    return hasStarted ? Math.max(0, monotonicMs() - start.atMs) : 0;
  };
  return { report: run(), warmup, measured, elapsedMs };
}

function startingNow(): Start {
  const atMs = monotonicMs() + START_LEAD_MS;
  const startedAt = new Date(Date.now() + START_LEAD_MS).toISOString();
  return { atMs, startedAt, cpu: process.cpuUsage() };
}

interface Assembly {
  readonly plan: LoadPlan;
  readonly warmup: LoadSection;
  readonly measured: LoadSection;
  readonly signal: AbortSignal;
  readonly start: Start;
  readonly limit: number | undefined;
}

function assemble(assembly: Assembly, shares: readonly ShareResult[]): LoadReport {
  const { plan, warmup, measured, start, limit } = assembly;
  const { user, system } = process.cpuUsage(start.cpu);
  const wallMs = Math.max(...shares.map(({ overMs }) => overMs));
  const warmupMs = Math.min(wallMs, plan.warmupMs);
  const runMs = Math.min(wallMs - warmupMs, plan.durationMs);
  const cpuCores = (user + system) / 1_000 / (wallMs + START_LEAD_MS);
  const logs = shares.map(({ intervals }) => intervals);
  return {
    warmup,
    measured,
    wallMs,
    warmupMs,
    runMs,
    drainMs: wallMs - warmupMs - runMs,
    partial: warmup.ledger.unsent + measured.ledger.unsent > 0 || assembly.signal.aborted,
    intervals: mergeIntervals(logs, plan.intervalMs, runMs),
    check: checkRun(plan, measured, shares, { cpuCores, descriptorLimit: limit }),
    plan,
    startedAt: start.startedAt,
  };
}
