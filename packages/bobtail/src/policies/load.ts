import { nth } from "../core/assert.ts";
import type { AttemptOutcome } from "./attempt.ts";
import type { Endpoint } from "./endpoint.ts";
import { noteFailure, noteSuccess, worthRatio } from "./error-penalty.ts";
import { fadeRatio } from "./load-fade.ts";
import { lostRacesFactor, noteRaceLost, noteRaceWon } from "./lost-races.ts";
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
  private readonly usesLatency: boolean;
  private readonly usesWork: boolean;
  private readonly errorPenalty: boolean;
  private readonly fadePerMs: number;
  private maxWeight: number;
  private endpoints: readonly Endpoint[];
  /** What an unmeasured endpoint counts as: the median of the measured ones, as of `medianAtMs`. */
  private medianMs: number;
  private medianAtMs: number;
  private unmeasured: number;
  private outcomes: number;

  constructor(options: LoadOptions) {
    this.uniform = true;
    this.usesLatency = options.signal === "peak-ewma";
    this.usesWork = options.signal === "work";
    this.errorPenalty = options.errorPenalty;
    this.fadePerMs = 1 / options.decayMs;
    this.maxWeight = 1;
    this.endpoints = [];
    this.medianMs = -1;
    this.medianAtMs = 0;
    this.unmeasured = 0;
    this.outcomes = 0;
  }

  update(endpoints: readonly Endpoint[], nowMs: number): void {
    this.endpoints = endpoints;
    this.maxWeight = endpoints.reduce((max, e) => Math.max(max, e.weight), 0);
    this.uniform = endpoints.every((e) => e.weight === this.maxWeight);
    this.refreshMedian(nowMs);
  }

  /** Whether `a` is at most as loaded as `b` for a call of that cost: a tie is for `a`. */
  notBusier(a: Endpoint, b: Endpoint, cost: number, nowMs: number): boolean {
    const loadOfA = this.plainOf(a, cost, nowMs);
    const loadOfB = this.plainOf(b, cost, nowMs);
    if (this.uniform && a.errorShareRatio === 0 && b.errorShareRatio === 0)
      return loadOfA <= loadOfB;
    // Kept apart, and products rather than quotients: this is the slow half of the hottest function.
    return (
      loadOfA * this.perWeight(a) * this.worth(b, nowMs) <=
      loadOfB * this.perWeight(b) * this.worth(a, nowMs) * this.tieFactor(a, b)
    );
  }

  private tieFactor(a: Endpoint, b: Endpoint): number {
    const bothIdle = a.outstanding === 0 && b.outstanding === 0;
    return bothIdle && !this.uniform ? IDLE_TIE_FACTOR : 1;
  }

  /** The load as a number, for a scan. */
  of(e: Endpoint, cost: number, nowMs: number): number {
    const plain = this.plainOf(e, cost, nowMs);
    if (this.uniform && e.errorShareRatio === 0) return plain;
    return (plain * this.perWeight(e)) / this.worth(e, nowMs);
  }

  /** The largest load that a scan takes for a tie with its least, among idle endpoints. */
  idleTie(least: number): number {
    return this.uniform ? least : least * IDLE_TIE_FACTOR;
  }

  /** What errors leave of an endpoint's worth, in (0, 1]. */
  worth(e: Endpoint, nowMs: number): number {
    return this.errorPenalty ? worthRatio(e, nowMs, this.fadePerMs) : 1;
  }

  /** Learns what the load is made of, and nothing else. */
  observe(e: Endpoint, latencyMs: number, outcome: AttemptOutcome, nowMs: number): void {
    if (this.usesLatency) this.observeLatency(e, latencyMs, outcome, nowMs);
    if (!this.errorPenalty) return;
    if (outcome === "failed") noteFailure(e, nowMs);
    else if (e.errorShareRatio > 0 && (outcome === "win" || outcome === "fatal")) noteSuccess(e);
  }

  private observeLatency(
    e: Endpoint,
    latencyMs: number,
    outcome: AttemptOutcome,
    nowMs: number,
  ): void {
    if (outcome === "ignored") return;
    const wasMeasured = e.latencyMs >= 0;
    if (outcome === "win") {
      noteLatency(e, latencyMs, nowMs, this.fadePerMs);
      if (e.lostShareRatio > 0) noteRaceWon(e);
    } else this.observeLowerBound(e, latencyMs, outcome, nowMs);
    if (this.unmeasured > 0) this.countOutcome(e, wasMeasured, nowMs);
  }

  private observeLowerBound(
    e: Endpoint,
    boundMs: number,
    outcome: AttemptOutcome,
    nowMs: number,
  ): void {
    noteLowerBound(e, boundMs, this.boundMs(e, nowMs), nowMs);
    if (outcome === "superseded") noteRaceLost(e);
  }

  private countOutcome(e: Endpoint, wasMeasured: boolean, nowMs: number): void {
    const isNews = wasMeasured !== e.latencyMs >= 0;
    if (isNews || ++this.outcomes >= MEDIAN_EVERY_OUTCOMES) this.refreshMedian(nowMs);
  }

  private plainOf(e: Endpoint, cost: number, nowMs: number): number {
    if (this.usesLatency) return this.expectedMs(e, nowMs) * (e.outstanding + 1);
    return this.usesWork ? e.work + cost : e.outstanding + 1;
  }

  private perWeight(e: Endpoint): number {
    return e.outstanding === 0 ? 1 : this.maxWeight / e.weight;
  }

  private expectedMs(e: Endpoint, nowMs: number): number {
    const latencyMs = e.latencyMs < 0 ? this.standInMs(nowMs) : this.judgedMs(e, nowMs);
    const waitedMs = nowMs * e.waiting - e.waitingSinceSumMs;
    // Without a branch: whether something waits is a coin toss, and a wrong guess costs more than a division.
    return Math.max(latencyMs, waitedMs / Math.max(e.waiting, 1));
  }

  private judgedMs(e: Endpoint, nowMs: number): number {
    const kept = fadeRatio(nowMs - e.latencyAtMs, this.fadePerMs);
    return e.latencyMs * kept * lostRacesFactor(e, kept);
  }

  private standInMs(nowMs: number): number {
    if (this.medianMs < 0) return NOTHING_MEASURED_MS;
    return this.medianMs * fadeRatio(nowMs - this.medianAtMs, this.fadePerMs);
  }

  /** What a lower bound must exceed. Where nobody has been measured it says nothing yet. */
  private boundMs(e: Endpoint, nowMs: number): number {
    if (e.latencyMs >= 0) return fadedLatencyMs(e, nowMs, this.fadePerMs);
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
      .map((e) => fadedLatencyMs(e, nowMs, this.fadePerMs))
      .sort((a, b) => a - b);
    this.medianMs = nth(sorted, sorted.length >> 1);
    this.medianAtMs = nowMs;
  }
}
