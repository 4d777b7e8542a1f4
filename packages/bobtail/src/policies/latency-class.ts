import type { LatencyClass } from "./hedger.ts";
import { LatencyWindow, type MergedLatencies, WINDOW_MAX_MS } from "./latency-window.ts";

/** An estimate is renewed when this long has passed, or as many samples have come as it was made from. */
const REFRESH_MS = 500;
/** The median is known from this many samples on. */
const MEDIAN_MIN_SAMPLES = 20;

/** How a delay follows from the latencies of a class. */
export interface DelayRule {
  /** Infinity until then. */
  readonly minSamples: number;
  /** The delay while nothing has been learnt. */
  readonly initialDelayMs: number;
  /** The next delay, from the window and the one in force (Infinity: none yet). Absent: the delay is fixed. */
  readonly nextDelayMs?: ((latencies: MergedLatencies, delayMs: number) => number) | undefined;
  /** No delay is shorter. Absent: the delay is fixed. */
  readonly floorMs?: number | undefined;
}

/**
 * What is known of one class. Reads are plain: all learning happens in `record`.
 *
 * Without a sample for 15 minutes, the longest that a sample lives, the class forgets what it knew and
 * has its initial delay again. Until then the last estimate holds: after a pause it is the best guess, and
 * the budget bounds what a wrong one costs.
 */
export class LearntLatencyClass implements LatencyClass {
  readonly key: string;
  delayMs: number;
  medianMs: number;
  private readonly rule: DelayRule;
  private window: LatencyWindow | undefined;
  /** When the next sample is worth a new estimate: at that time, or after so many more samples. */
  private refreshAtMs: number;
  private samplesToRefresh: number;
  private forgetAtMs: number;

  constructor(key: string, rule: DelayRule) {
    this.key = key;
    this.delayMs = rule.initialDelayMs;
    this.medianMs = 0;
    this.rule = rule;
    this.window = undefined;
    this.refreshAtMs = Number.NEGATIVE_INFINITY;
    this.samplesToRefresh = 0;
    this.forgetAtMs = Number.POSITIVE_INFINITY;
  }

  delayAtMs(nowMs: number): number {
    return nowMs < this.forgetAtMs ? this.delayMs : this.rule.initialDelayMs;
  }

  record(latencyMs: number, censored: boolean, nowMs: number): void {
    const window = this.window ?? this.open(nowMs);
    if (nowMs >= this.forgetAtMs) this.forget(window, nowMs);
    this.forgetAtMs = nowMs + WINDOW_MAX_MS;
    window.record(latencyMs, censored, nowMs);
    if (--this.samplesToRefresh <= 0 || nowMs >= this.refreshAtMs) this.refresh(window, nowMs);
  }

  private open(nowMs: number): LatencyWindow {
    this.window = new LatencyWindow(this.rule.minSamples, nowMs);
    return this.window;
  }

  private refresh(window: LatencyWindow, nowMs: number): void {
    const { minSamples, nextDelayMs } = this.rule;
    const count = window.count;
    this.refreshAtMs = nowMs + REFRESH_MS;
    this.samplesToRefresh = Math.max(1, count);
    if (count < MEDIAN_MIN_SAMPLES) {
      this.samplesToRefresh = MEDIAN_MIN_SAMPLES - count;
      return;
    }
    // The first estimate comes with the very sample that makes it possible.
    if (count < minSamples) this.samplesToRefresh = Math.min(count, minSamples - count);
    const latencies = window.merge();
    this.medianMs = latencies.quantileMs(0.5) ?? Math.max(this.medianMs, latencies.longestMs);
    if (nextDelayMs !== undefined && count >= minSamples)
      this.delayMs = nextDelayMs(latencies, this.delayMs);
  }

  private forget(window: LatencyWindow, nowMs: number): void {
    window.clear(nowMs);
    this.delayMs = this.rule.initialDelayMs;
    this.medianMs = 0;
    this.samplesToRefresh = 0;
  }
}
