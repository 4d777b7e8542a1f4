import { Histogram } from "bobtail/engine";
import { Flight, type FlightHost } from "./flight.ts";
import { FlightList } from "./flight-list.ts";
import { IntervalLog } from "./interval-log.ts";
import type { LoadPlan } from "./load-plan.ts";
import { emptySection, type LoadSection } from "./load-report.ts";
import { toMicros } from "./micros.ts";
import { monotonicMs } from "./monotonic-clock.ts";
import { Probe } from "./pacing/probe.ts";
import { MAX_TIMER_MS, timerWaker, type Waker, type WakerFactory } from "./pacing/waker.ts";
import { countOfShare, Schedule, type Share } from "./schedule.ts";
import { createTransport } from "./send/create-transport.ts";
import type { Transport } from "./send/exchange.ts";
import type { ShareResult } from "./share-result.ts";
import { startThreadMonitor, type ThreadMonitor } from "./thread-monitor.ts";

/** Sends that a late wake may make up for before the event loop gets a turn. */
const MAX_BURST = 256;

export interface OpenLoopSetup {
  readonly plan: LoadPlan;
  readonly share: Share;
  /** Of this share. */
  readonly maxInFlight: number;
  readonly connections: number;
  /** Called when the first measured request is about to leave. */
  onMeasure(): void;
}

/** One thread's share of a run: requests leave at their planned moments however slow the answers are. */
export class OpenLoop implements FlightHost {
  readonly warmup: LoadSection;
  readonly measured: LoadSection;
  private readonly setup: OpenLoopSetup;
  private readonly schedule: Schedule;
  private readonly intervals: IntervalLog;
  private readonly open: FlightList;
  private readonly transport: Transport;
  private readonly probe: Probe;
  private waker: Waker | undefined;
  private monitor: ThreadMonitor | undefined;
  private startMs: number;
  /** When it was over, Infinity until then. */
  private overMs: number;
  private hasMeasured: boolean;
  private isWaking: boolean;
  private fellBack: boolean;
  private readonly wakeNow: () => void;
  private immediate: NodeJS.Immediate | undefined;
  private timeout: NodeJS.Timeout | undefined;
  private end: NodeJS.Timeout | undefined;
  private done: (result: ShareResult) => void;

  constructor(setup: OpenLoopSetup) {
    const { plan, share, connections } = setup;
    const { targets, tls, addresses } = plan;
    this.setup = setup;
    this.warmup = emptySection(countOfShare(plan.warmupCount, share));
    this.measured = emptySection(countOfShare(plan.count, share));
    this.schedule = new Schedule(plan, share);
    this.intervals = new IntervalLog(plan.intervalMs);
    this.open = new FlightList();
    const onConnect = (tookMs: number): void => {
      const section = this.hasMeasured ? this.measured : this.warmup;
      section.connect.record(toMicros(tookMs));
    };
    this.transport = createTransport(plan.protocol, {
      targets,
      connections,
      tls,
      addresses,
      openTimeoutMs: Math.min(plan.timeoutMs, MAX_TIMER_MS),
      onConnect,
    });
    this.probe = new Probe();
    this.waker = undefined;
    this.monitor = undefined;
    this.startMs = Number.NaN;
    this.overMs = Number.POSITIVE_INFINITY;
    this.hasMeasured = false;
    this.isWaking = false;
    this.fellBack = false;
    this.wakeNow = () => {
      this.isWaking = false;
      this.wake();
    };
    this.immediate = undefined;
    this.timeout = undefined;
    this.end = undefined;
    this.done = () => {};
  }

  /**
   * @param startMs - of the run, on the monotonic clock; probes of the pacing go before it.
   * @returns what has become of the share, when all of it has; never rejects.
   */
  run(startMs: number, wakerOf: WakerFactory): Promise<ShareResult> {
    return new Promise((resolve) => {
      this.done = resolve;
      if (this.overMs < Number.POSITIVE_INFINITY) {
        resolve(this.result());
        return;
      }
      this.startMs = startMs;
      this.monitor = startThreadMonitor();
      this.useWaker(wakerOf);
      const { warmupMs, durationMs } = this.setup.plan;
      this.setEnd(warmupMs + durationMs);
    });
  }

  /** Its pacing thread is gone, or never came: its own timers wake it from now on. */
  fallBack(): void {
    this.fellBack = true;
    if (this.overMs < Number.POSITIVE_INFINITY || this.waker === undefined) return;
    this.waker.stop();
    this.useWaker(timerWaker(monotonicMs));
  }

  /** 0 until it starts. */
  elapsedMs(): number {
    if (Number.isNaN(this.startMs)) return 0;
    return Math.min(this.overMs, monotonicMs() - this.startMs);
  }

  /** Nothing is sent or waited for any more; what is open is counted as such. */
  stop(): void {
    if (this.overMs < Number.POSITIVE_INFINITY) return;
    const overMs = Math.max(0, this.elapsedMs());
    clearImmediate(this.immediate);
    clearTimeout(this.timeout);
    clearTimeout(this.end);
    this.waker?.stop();
    this.schedule.stop();
    this.overMs = overMs;
    while (this.open.oldest !== undefined) this.open.oldest.giveUp("open");
    this.transport.close();
    for (const { ledger } of [this.warmup, this.measured])
      ledger.unsent = ledger.planned - ledger.sent - ledger.dropped;
    this.done(this.result());
  }

  onLanded(flight: Flight, nowMs: number): void {
    this.open.remove(flight);
    // It is awake and has the time in hand: what is due need not wait for a wake of its own.
    if (this.schedule.nextMs <= nowMs && !this.isWaking) {
      this.isWaking = true;
      queueMicrotask(this.wakeNow);
    }
    if (this.open.count === 0 && this.isDraining()) this.stop();
  }

  private useWaker(wakerOf: WakerFactory): void {
    const waker = wakerOf(() => this.wake());
    this.waker = waker;
    this.sleep(waker);
  }

  private sleep(waker: Waker): void {
    const { nextMs, ordinal } = this.schedule;
    waker.sleepUntil(this.startMs + (this.probe.nextMs() ?? nextMs), ordinal);
  }

  private wake(): void {
    const { schedule, waker } = this;
    if (waker === undefined || this.overMs < Number.POSITIVE_INFINITY) return;
    let nowMs = this.elapsedMs();
    if (this.probe.nextMs() !== undefined) this.probe.wake(nowMs);
    for (let burst = 0; burst < MAX_BURST && schedule.nextMs <= nowMs; burst++) {
      this.send(nowMs);
      nowMs = this.elapsedMs();
    }
    if (schedule.nextMs <= nowMs) {
      clearImmediate(this.immediate);
      this.immediate = setImmediate(() => this.wake());
    }
    this.sleep(waker);
    this.intervals.seal(this.oldestMs() - this.setup.plan.warmupMs);
    if (this.open.count === 0 && this.isDraining()) this.stop();
  }

  private send(nowMs: number): void {
    const { schedule, setup } = this;
    const { plan } = setup;
    const { isWarmup, nextMs: plannedMs, target } = schedule;
    const section = isWarmup ? this.warmup : this.measured;
    if (!isWarmup && !this.hasMeasured) {
      this.hasMeasured = true;
      setup.onMeasure();
    }
    const slot = isWarmup ? undefined : this.intervals.slotAt(plannedMs - plan.warmupMs);
    schedule.advance();
    if (this.open.count >= setup.maxInFlight) {
      section.ledger.dropped++;
      if (slot !== undefined) {
        slot.dropped++;
        slot.infinite++;
      }
      return;
    }
    section.ledger.sent++;
    if (slot !== undefined) slot.sent++;
    section.pacingLag.record(toMicros(nowMs - plannedMs));
    const isEventStream = plan.sse;
    const flight = new Flight(this, { section, slot, plannedMs, handedMs: nowMs, isEventStream });
    this.open.add(flight);
    if (this.timeout === undefined) this.setTimeout(nowMs);
    const asked = plan.targets[target];
    if (asked !== undefined) this.transport.send(asked, flight);
  }

  /** All have the same timeout, so the oldest is the first to reach it. */
  private setTimeout(nowMs: number): void {
    const { oldest } = this.open;
    if (oldest === undefined) {
      this.timeout = undefined;
      return;
    }
    const leftMs = oldest.plannedMs + this.setup.plan.timeoutMs - nowMs;
    this.timeout = setTimeout(() => this.giveUpLate(), Math.min(Math.max(1, leftMs), MAX_TIMER_MS));
  }

  private giveUpLate(): void {
    const nowMs = this.elapsedMs();
    for (let { oldest } = this.open; oldest !== undefined; oldest = this.open.oldest) {
      if (nowMs - oldest.plannedMs < this.setup.plan.timeoutMs) break;
      oldest.giveUp("timeout");
    }
    if (this.overMs === Number.POSITIVE_INFINITY) this.setTimeout(nowMs);
  }

  /** The run lasts as long as was asked, also where its last request was answered before. */
  private setEnd(endMs: number): void {
    const leftMs = Math.ceil(endMs - this.elapsedMs());
    if (leftMs > 0) {
      this.end = setTimeout(() => this.setEnd(endMs), Math.min(leftMs, MAX_TIMER_MS));
      return;
    }
    this.end = undefined;
    if (this.open.count === 0 && this.isDraining()) this.stop();
    // Whoever is behind sends the rest before it drains.
    else if (this.schedule.nextMs < Number.POSITIVE_INFINITY) this.wake();
  }

  private isDraining(): boolean {
    return this.end === undefined && this.schedule.nextMs === Number.POSITIVE_INFINITY;
  }

  /** Nothing that was planned before it is open or will be sent. */
  private oldestMs(): number {
    return Math.min(this.open.oldest?.plannedMs ?? Number.POSITIVE_INFINITY, this.schedule.nextMs);
  }

  private result(): ShareResult {
    return {
      warmup: this.warmup,
      measured: this.measured,
      intervals: this.intervals.finish(),
      overMs: this.overMs,
      probe: this.probe.lag.count === 0 ? new Histogram() : this.probe.lag,
      fellBack: this.fellBack,
      health: this.monitor?.stop() ?? { loopDelayP99Ms: Number.NaN, gcPauseMs: 0 },
    };
  }
}
