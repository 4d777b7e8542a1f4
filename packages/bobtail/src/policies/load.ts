import { nth } from "../core/assert.ts";
import type { AttemptOutcome } from "./attempt.ts";
import type { Endpoint } from "./endpoint.ts";
import { noteFailure, noteSuccess, worthRatio } from "./error-penalty.ts";
import { fadeRatio } from "./load-fade.ts";
import type { LoadSignal } from "./options.ts";
import { fadedLatencyMs, noteLatency, noteLowerBound } from "./peak-ewma.ts";

/** While nobody has been measured, every endpoint counts alike: only the outstanding attempts matter. */
const NOTHING_MEASURED_MS = 1;
/** The stand-in for unmeasured endpoints is at most this many outcomes old. */
const MEDIAN_EVERY_OUTCOMES = 16;
/** Idle endpoints whose loads are within this factor are alike: their weights decide, not the noise. */
const IDLE_TIE_FACTOR = 2;

export interface LoadOptions {
  readonly signal: LoadSignal;
  readonly errorPenalty: boolean;
  readonly decayMs: number;
}

/**
 * The cost of one more attempt at an endpoint; only compared, never shown.
 *
 * - `outstanding`: attempts under way, this one included.
 * - `work`: the same in units of cost.
 * - `peak-ewma`: expected time to an answer x attempts under way. What has been waiting longer than
 *   expected counts by its age, so that an endpoint which hangs is seen before it answers.
 *
 * Divided by the weight, and by what errors leave of the endpoint's worth. An idle endpoint is not
 * divided by its weight: it is as good as any other idle one, and the draw, which goes by weight, decides.
 */
export class Load {
  /** Whether all weights are equal: then nothing reads them. */
  uniform: boolean;
  private readonly signal: LoadSignal;
  private readonly errorPenalty: boolean;
  private readonly decayMs: number;
  private maxWeight: number;
  private endpoints: readonly Endpoint[];
  /** What an unmeasured endpoint counts as: the median of the measured ones, as of `medianAtMs`. */
  private medianMs: number;
  private medianAtMs: number;
  private unmeasured: number;
  private outcomes: number;

  constructor(options: LoadOptions) {
    this.uniform = true;
    this.signal = options.signal;
    this.errorPenalty = options.errorPenalty;
    this.decayMs = options.decayMs;
    this.maxWeight = 1;
    this.endpoints = [];
    this.medianMs = -1;
    this.medianAtMs = 0;
    this.unmeasured = 0;
    this.outcomes = 0;
  }

  update(endpoints: readonly Endpoint[], nowMs: number): void {
    this.endpoints = endpoints;
    this.maxWeight = endpoints.reduce((max, e) => (e.weight > max ? e.weight : max), 0);
    this.uniform = endpoints.every((e) => e.weight === this.maxWeight);
    this.refreshMedian(nowMs);
  }

  /** Whether `a` is at most as loaded as `b` for a call of that cost: a tie is for `a`. */
  notBusier(a: Endpoint, b: Endpoint, cost: number, nowMs: number): boolean {
    let loadOfA = this.rawOf(a, cost, nowMs);
    let loadOfB = this.rawOf(b, cost, nowMs);
    if (this.errorPenalty && (a.errorShareRatio > 0 || b.errorShareRatio > 0)) {
      loadOfA *= worthRatio(b, nowMs, this.decayMs);
      loadOfB *= worthRatio(a, nowMs, this.decayMs);
    }
    if (!this.uniform && a.outstanding === 0 && b.outstanding === 0) loadOfB *= IDLE_TIE_FACTOR;
    return loadOfA <= loadOfB;
  }

  /** The load as a number, for a scan. */
  of(e: Endpoint, cost: number, nowMs: number): number {
    const load = this.rawOf(e, cost, nowMs);
    return this.errorPenalty ? load / worthRatio(e, nowMs, this.decayMs) : load;
  }

  /** The largest load that a scan takes for a tie with its least, among idle endpoints. */
  idleTie(least: number): number {
    return this.uniform ? least : least * IDLE_TIE_FACTOR;
  }

  /** The weight by which an endpoint takes part in a draw or a turn. */
  weightOf(e: Endpoint, nowMs: number): number {
    return this.errorPenalty ? e.weight * worthRatio(e, nowMs, this.decayMs) : e.weight;
  }

  observe(e: Endpoint, latencyMs: number, outcome: AttemptOutcome, nowMs: number): void {
    if (outcome === "ignored") return;
    const wasMeasured = e.latencyMs >= 0;
    if (outcome === "win") noteLatency(e, latencyMs, nowMs, this.decayMs);
    else noteLowerBound(e, latencyMs, this.boundMs(e, nowMs), nowMs);
    if (outcome === "failed") noteFailure(e, nowMs);
    else if (outcome === "win" || outcome === "fatal") noteSuccess(e);
    if (this.unmeasured === 0) return;
    const isNews = wasMeasured !== e.latencyMs >= 0;
    if (isNews || ++this.outcomes >= MEDIAN_EVERY_OUTCOMES) this.refreshMedian(nowMs);
  }

  private rawOf(e: Endpoint, cost: number, nowMs: number): number {
    let load: number;
    if (this.signal === "peak-ewma") load = this.expectedMs(e, nowMs) * (e.outstanding + 1);
    else load = this.signal === "work" ? e.work + cost : e.outstanding + 1;
    return this.uniform || e.outstanding === 0 ? load : (load * this.maxWeight) / e.weight;
  }

  private expectedMs(e: Endpoint, nowMs: number): number {
    const latencyMs =
      e.latencyMs < 0 ? this.standInMs(nowMs) : fadedLatencyMs(e, nowMs, this.decayMs);
    if (e.waiting === 0) return latencyMs;
    const meanAgeMs = nowMs - e.waitingSinceSumMs / e.waiting;
    return meanAgeMs > latencyMs ? meanAgeMs : latencyMs;
  }

  private standInMs(nowMs: number): number {
    if (this.medianMs < 0) return NOTHING_MEASURED_MS;
    return this.medianMs * fadeRatio(nowMs - this.medianAtMs, this.decayMs);
  }

  /** What a lower bound must exceed. Where nobody has been measured it says nothing yet. */
  private boundMs(e: Endpoint, nowMs: number): number {
    if (e.latencyMs >= 0) return fadedLatencyMs(e, nowMs, this.decayMs);
    return this.medianMs < 0 ? Number.POSITIVE_INFINITY : this.standInMs(nowMs);
  }

  private refreshMedian(nowMs: number): void {
    const measured = this.endpoints.filter((e) => e.latencyMs >= 0);
    this.outcomes = 0;
    this.unmeasured = this.endpoints.length - measured.length;
    if (this.unmeasured === 0 || measured.length === 0) {
      this.medianMs = -1;
      return;
    }
    const sorted = measured
      .map((e) => fadedLatencyMs(e, nowMs, this.decayMs))
      .sort((a, b) => a - b);
    this.medianMs = nth(sorted, sorted.length >> 1);
    this.medianAtMs = nowMs;
  }
}
