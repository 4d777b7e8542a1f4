import { samplesForInterval } from "bobtail/plan";
import type { LimitRecord, Probe, RunRecord } from "../output/run-record.ts";
import type { Condition } from "./condition.ts";
import { findingOf } from "./judge.ts";
import { atRate, type LoadRequest } from "./load-request.ts";
import { pastSaturation } from "./saturation.ts";
import type { RunAt } from "./sweep.ts";

const LATER_WARMUP_MS = 2_000;
/** An objective beyond the p99.99 would take hours a probe. */
const MIN_TAIL = 1e-4;
const GROWTH = 2;
/** Nearer than this two rates are one. */
const CLOSE_RATIO = 1.05;
const MAX_PER_SEC = 1_000_000;
const MAX_CONFIRMATIONS = 3;
/** A rate that did not hold when it was run again is lowered by so much. */
const BACK_OFF = 0.92;
/** Requests that are to lie beyond the percentile, so that one of them does not decide. */
const EXCEEDANCES = 10;
/** At low rates a probe may not be lengthened beyond this for their sake, but for a percentile at all. */
const MAX_LENGTHENED_MS = 30_000;
/** The search goes no further down than this share of the rate that it began with. */
const MIN_RATIO: number = 1 / 128;

export interface SearchOptions {
  readonly runAt: RunAt;
  readonly onProbe: (probe: Probe) => void;
  readonly signal: AbortSignal;
}

/**
 * The highest rate that keeps an objective: rates are doubled until one breaks it, then the gap is halved on a log scale until its
 * ends are within 5 %, and the rate that is left is run once more, twice as long. A search over noise finds lucky runs: only what
 * holds the second time is told.
 */
export async function findLimit(
  request: LoadRequest,
  objective: Condition,
  options: SearchOptions,
): Promise<LimitRecord> {
  const search = new Search(request, objective, options);
  const found = await search.run();
  return { kind: "limit", objective: objective.text, probes: search.probes, ...found };
}

type Found = Pick<LimitRecord, "ratePerSec" | "because">;

class Search {
  readonly probes: Probe[];
  private readonly request: LoadRequest;
  private readonly objective: Condition;
  private readonly options: SearchOptions;

  constructor(request: LoadRequest, objective: Condition, options: SearchOptions) {
    this.probes = [];
    this.request = request;
    this.objective = objective;
    this.options = options;
  }

  async run(): Promise<Found> {
    const first = this.request.setup.profile[0]?.fromPerSec ?? 1;
    let kept = await this.lowest(first);
    if (kept === undefined) return this.nothing();
    let broken: number | undefined = this.brokenAbove(kept);
    while (broken === undefined && kept < MAX_PER_SEC) {
      const outcome = await this.probe(Math.min(MAX_PER_SEC, kept * GROWTH), "grow");
      if (outcome === "stopped") return this.nothing();
      if (outcome === "held") kept = Math.min(MAX_PER_SEC, kept * GROWTH);
      else broken = Math.min(MAX_PER_SEC, kept * GROWTH);
    }
    while (broken !== undefined && broken / kept > CLOSE_RATIO) {
      const middle = roundRate(Math.sqrt(kept * broken));
      if (middle <= kept || middle >= broken) break;
      const outcome = await this.probe(middle, "bisect");
      if (outcome === "stopped") return this.nothing();
      if (outcome === "held") kept = middle;
      else broken = middle;
    }
    return this.confirm(kept, broken);
  }

  /** The first rate that holds, downwards from where the search begins. */
  private async lowest(first: number): Promise<number | undefined> {
    for (let rate = first; rate >= first * MIN_RATIO; rate = roundRate(rate / 2)) {
      const outcome = await this.probe(rate, rate === first ? "grow" : "shrink");
      if (outcome === "held") return rate;
      // A lower rate helps neither a sample that is too small nor a generator whose machine has other work.
      if (outcome !== "failed") return undefined;
    }
    return undefined;
  }

  private brokenAbove(kept: number): number | undefined {
    const above = this.probes
      .filter(({ ratePerSec, outcome }) => ratePerSec > kept && outcome !== "held")
      .map(({ ratePerSec }) => ratePerSec);
    return above.length === 0 ? undefined : Math.min(...above);
  }

  private async confirm(kept: number, broken: number | undefined): Promise<Found> {
    const limit = this.probes.find(({ ratePerSec }) => ratePerSec === broken);
    const why =
      limit === undefined
        ? "it is the highest rate that there is"
        : limit.outcome === "generator-limited"
          ? `at ${limit.ratePerSec}/s the generator could not keep up: the target may do more`
          : `at ${limit.ratePerSec}/s it was ${limit.measured}`;
    let rate = kept;
    for (let i = 0; i < MAX_CONFIRMATIONS; i++) {
      const outcome = await this.probe(rate, "confirm");
      if (outcome === "held")
        return { ratePerSec: rate, because: `held when it was run again, twice as long; ${why}` };
      if (outcome === "stopped") return this.nothing();
      rate = roundRate(rate * BACK_OFF);
    }
    return {
      ratePerSec: undefined,
      because: `no rate near ${kept}/s held when it was run again: the target is not steady enough for this objective`,
    };
  }

  private nothing(): Found {
    const last = this.probes.at(-1);
    const because = this.options.signal.aborted
      ? "stopped by a signal before the search was over"
      : last?.outcome === "undecided"
        ? `the objective could not be decided: ${last.measured}`
        : last?.outcome === "generator-limited"
          ? `at ${last.ratePerSec}/s the generator could not keep up: ${last.run.check.reasons.join("; ")}`
          : `not even ${last?.ratePerSec ?? 0}/s keeps it`;
    return { ratePerSec: undefined, because };
  }

  private async probe(
    ratePerSec: number,
    phase: Probe["phase"],
  ): Promise<Probe["outcome"] | "stopped"> {
    const { runAt, onProbe, signal } = this.options;
    if (signal.aborted) return "stopped";
    // What fails while the generator limps is tried once more: its machine may have had other work for a moment.
    for (let attempt = 1; ; attempt++) {
      const request = this.requestAt(ratePerSec, phase);
      const run = await runAt(request, { index: this.probes.length, ratePerSec });
      const probe = { ratePerSec, phase, run, ...this.judge(run) };
      this.probes.push(probe);
      onProbe(probe);
      if (signal.aborted) return "stopped";
      if (probe.outcome !== "generator-limited" || attempt === 2) return probe.outcome;
    }
  }

  private judge(run: RunRecord): Pick<Probe, "outcome" | "measured"> {
    const { isTrue, measured } = findingOf(this.objective, run);
    const saturated = pastSaturation(run, this.probes[0]?.run ?? run);
    // The generator's own lag makes times longer: what holds in spite of it, holds.
    if (isTrue === true && saturated === undefined) return { outcome: "held", measured };
    if (run.check.verdict === "generator-limited")
      return { outcome: "generator-limited", measured };
    if (isTrue === "unknown") return { outcome: "undecided", measured };
    return { outcome: "failed", measured: saturated ?? measured };
  }

  private requestAt(ratePerSec: number, phase: Probe["phase"]): LoadRequest {
    const { durationMs, warmupMs, warmupReason } = this.request.setup;
    const { measure } = this.objective;
    const asked = measure.kind === "quantile" ? 1 - measure.quantile : this.objective.bound;
    const tailRatio = Math.max(asked, MIN_TAIL);
    const goodMs = Math.min(MAX_LENGTHENED_MS, (EXCEEDANCES / tailRatio / ratePerSec) * 1_000);
    const leastMs = ((samplesForInterval(1 - tailRatio) + 1) / ratePerSec) * 1_000;
    const longMs = Math.ceil(Math.max(durationMs, goodMs, leastMs) * (phase === "confirm" ? 2 : 1));
    const isShort = this.probes.length > 0 && warmupMs > LATER_WARMUP_MS;
    return atRate(this.request, {
      ratePerSec,
      durationMs: longMs,
      warmupMs: isShort ? LATER_WARMUP_MS : warmupMs,
      warmupReason: isShort ? "2 s after the first run of a search" : warmupReason,
    });
  }
}

/** Three digits: 283 and not 282.8427. */
function roundRate(perSec: number): number {
  return Number(perSec.toPrecision(3));
}
