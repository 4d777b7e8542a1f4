import { Pool } from "undici";
import { Flight, type FlightOutcome } from "./flight.ts";
import type { LoadOptions } from "./load-options.ts";
import { checkLoadOptions, type LoadPlan } from "./load-plan.ts";
import { emptySection, type LoadReport, type LoadSection } from "./load-report.ts";
import { Schedule } from "./schedule.ts";

/** Sends that a late timer may make up for before the event loop gets a turn. */
const MAX_BURST = 256;
/** How often open requests are looked at while there is nothing to send. */
const DRAIN_CHECK_MS = 5;
/** The longest sleep between two sends, so that timeouts are seen at low rates too. */
const MAX_SLEEP_MS = 100;

export interface LoadRun {
  /** Never rejects: what goes wrong is in the ledger. */
  readonly report: Promise<LoadReport>;
  /** What has been counted so far, to be read only. */
  readonly warmup: LoadSection;
  readonly measured: LoadSection;
  elapsedMs(): number;
}

/**
 * An open loop: requests leave at their planned moments however slow the answers are, and every time
 * runs from the planned moment, so that neither a slow server nor a late timer can hide a wait.
 *
 * Throws `ERR_BOBTAIL_OPTION` for the first option out of range.
 */
export function startLoad(options: LoadOptions): LoadRun {
  const loop = new OpenLoop(checkLoadOptions(options), options);
  const { warmup, measured } = loop;
  return { report: loop.run(), warmup, measured, elapsedMs: () => loop.elapsedMs() };
}

class OpenLoop {
  readonly warmup: LoadSection;
  readonly measured: LoadSection;
  private readonly schedule: Schedule;
  private readonly plan: LoadPlan;
  private readonly signal: AbortSignal | undefined;
  private readonly pool: Pool;
  private onMeasure: (() => void) | undefined;
  private startMs: number;
  /** When the run was over, Infinity until then. */
  private overMs: number;
  private drainFromMs: number;
  private inFlight: number;
  private oldest: Flight | undefined;
  private newest: Flight | undefined;
  private timer: NodeJS.Timeout | undefined;
  private immediate: NodeJS.Immediate | undefined;
  private done: () => void;

  constructor(plan: LoadPlan, options: LoadOptions) {
    this.plan = plan;
    this.schedule = new Schedule(plan);
    this.warmup = emptySection(plan.warmupCount);
    this.measured = emptySection(plan.count);
    this.signal = options.signal;
    this.onMeasure = options.onMeasure;
    this.pool = new Pool(plan.targets[0]?.origin ?? "", {
      connections: plan.maxInFlight,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.startMs = 0;
    this.overMs = Number.POSITIVE_INFINITY;
    this.drainFromMs = Number.POSITIVE_INFINITY;
    this.inFlight = 0;
    this.oldest = undefined;
    this.newest = undefined;
    this.timer = undefined;
    this.immediate = undefined;
    this.done = () => {};
  }

  async run(): Promise<LoadReport> {
    const { signal, warmup, measured, plan } = this;
    const startedAt = new Date().toISOString();
    const abort = (): void => this.stop();
    const over = new Promise<void>((resolve) => {
      this.done = resolve;
    });
    this.startMs = performance.now();
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted === true) this.stop();
    else this.tick();
    await over;
    signal?.removeEventListener("abort", abort);
    await this.pool.destroy();
    const partial = warmup.ledger.unsent + measured.ledger.unsent > 0 || signal?.aborted === true;
    const wallMs = this.overMs;
    const warmupMs = Math.min(wallMs, plan.warmupMs);
    const runMs = Math.min(wallMs - warmupMs, plan.durationMs);
    return {
      warmup,
      measured,
      wallMs,
      warmupMs,
      runMs,
      drainMs: wallMs - warmupMs - runMs,
      partial,
      intervals: [],
      check: {
        verdict: measured.ledger.dropped > 0 ? "generator-limited" : "ok",
        reasons: measured.ledger.dropped > 0 ? ["requests were dropped"] : [],
        notes: [],
        sendLagP99Ms: measured.pacingLag.quantile(0.99) / 1_000,
        loopDelayP99Ms: Number.NaN,
        cpuCores: 0,
        gcPauseMs: 0,
        descriptorLimit: undefined,
        pacingFloorMs: undefined,
      },
      plan,
      startedAt,
    };
  }

  elapsedMs(): number {
    return Math.min(this.overMs, performance.now() - this.startMs);
  }

  private tick(): void {
    let nowMs = this.elapsedMs();
    this.giveUpLate(nowMs);
    for (let burst = 0; burst < MAX_BURST && this.schedule.nextMs <= nowMs; burst++) {
      this.send(nowMs);
      nowMs = this.elapsedMs();
    }
    if (this.overMs < Number.POSITIVE_INFINITY) return;
    const { nextMs } = this.schedule;
    if (nextMs === Number.POSITIVE_INFINITY) this.drain(nowMs);
    else if (nextMs <= nowMs) this.immediate = setImmediate(() => this.tick());
    else this.sleep(Math.max(1, Math.floor(Math.min(nextMs - nowMs, MAX_SLEEP_MS))));
  }

  private send(nowMs: number): void {
    const { isWarmup, nextMs: plannedMs } = this.schedule;
    const section = isWarmup ? this.warmup : this.measured;
    if (!isWarmup) {
      this.onMeasure?.();
      this.onMeasure = undefined;
    }
    this.schedule.advance();
    if (this.inFlight >= this.plan.maxInFlight) {
      section.ledger.dropped++;
      return;
    }
    section.ledger.sent++;
    section.sendLag.record(toMicros(nowMs - plannedMs));
    section.pacingLag.record(toMicros(nowMs - plannedMs));
    section.queueing.record(0);
    const flight = new Flight(section, plannedMs, (f, outcome) => this.landed(f, outcome));
    this.link(flight);
    this.pool.dispatch({ path: this.plan.targets[0]?.path ?? "/", method: "GET" }, flight);
  }

  private landed(flight: Flight, outcome: FlightOutcome): void {
    this.unlink(flight);
    const { ledger, completed, all, failed } = flight.section;
    const micros = toMicros(this.elapsedMs() - flight.plannedMs);
    if (outcome === "http-error" || outcome === "transport-error") failed.record(micros);
    else all.record(micros);
    switch (outcome) {
      case "ok":
        ledger.ok++;
        completed.record(micros);
        break;
      case "http-error":
        ledger.httpErrors++;
        break;
      case "transport-error":
        ledger.transportErrors++;
        break;
      case "timeout":
        ledger.timeouts++;
        break;
      case "open":
        ledger.openAtEnd++;
        break;
    }
  }

  /** All have the same timeout, so the oldest is the first to reach it. */
  private giveUpLate(nowMs: number): void {
    while (this.oldest !== undefined && nowMs - this.oldest.plannedMs > this.plan.timeoutMs)
      this.oldest.end("timeout");
  }

  private drain(nowMs: number): void {
    this.drainFromMs = Math.min(this.drainFromMs, nowMs);
    if (this.inFlight === 0 || nowMs - this.drainFromMs > this.plan.timeoutMs) this.stop();
    else this.sleep(DRAIN_CHECK_MS);
  }

  private sleep(ms: number): void {
    this.timer = setTimeout(() => this.tick(), ms);
  }

  /** Nothing is sent or waited for any more; what is open is counted as such. */
  private stop(): void {
    if (this.overMs < Number.POSITIVE_INFINITY) return;
    clearTimeout(this.timer);
    clearImmediate(this.immediate);
    this.schedule.stop();
    for (const { ledger } of [this.warmup, this.measured])
      ledger.unsent = ledger.planned - ledger.sent - ledger.dropped;
    while (this.oldest !== undefined) this.oldest.end("open");
    this.overMs = this.elapsedMs();
    this.done();
  }

  private link(flight: Flight): void {
    flight.previous = this.newest;
    if (this.newest === undefined) this.oldest = flight;
    else this.newest.next = flight;
    this.newest = flight;
    this.inFlight++;
  }

  private unlink(flight: Flight): void {
    if (flight.previous === undefined) this.oldest = flight.next;
    else flight.previous.next = flight.next;
    if (flight.next === undefined) this.newest = flight.previous;
    else flight.next.previous = flight.previous;
    flight.previous = undefined;
    flight.next = undefined;
    this.inFlight--;
  }
}

function toMicros(ms: number): number {
  return Math.round(ms * 1_000);
}
