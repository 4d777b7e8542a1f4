import { checkOption } from "../core/errors.ts";
import { adaptiveDelay, autoQuantile } from "./adaptive-delay.ts";
import type { Hedger, LatencyClass } from "./hedger.ts";
import { type DelayRule, LearntLatencyClass } from "./latency-class.ts";
import type { HedgeOptions } from "./options.ts";
import { checkExtraRatio } from "./token-budget.ts";

const MAX_CLASSES = 32;
/** The class of every key that came after the first 32. */
const OTHER_KEY = "_other";
const DEFAULT_MIN_SAMPLES = 100;
const DEFAULT_FLOOR_MS = 1;
const DEFAULT_CEILING_MS = 10_000;
const CEILING_TO_FLOOR = 4;
/** Weight of one wake in the usual lateness, and what it can be at most: a stalled process must not hedge early. */
const LATENESS_RATIO = 1 / 32;
const MAX_LATENESS_MS = 2;

/**
 * Learns the latencies of each class of calls, and from them when a second copy is worth sending.
 *
 * Without options it hedges nothing and still learns medians, by which late retries are refused.
 * `extraRatio` is the budget's, by which `auto` is tuned. Throws `ERR_BOBTAIL_OPTION` for an option out of range.
 */
export function createHedger(
  options: HedgeOptions | undefined,
  extraRatio: number | undefined,
): Hedger {
  const ratio = checkExtraRatio(extraRatio);
  if (options === undefined) return new ClassHedger(0, fixedDelay(Number.POSITIVE_INFINITY));
  const max = options.max ?? 1;
  checkOption(
    { "hedge.max": max },
    "a whole number in [1, 4]",
    Number.isInteger(max) && max >= 1 && max <= 4,
  );
  return new ClassHedger(max, delayRule(options, ratio, max));
}

class ClassHedger implements Hedger {
  readonly max: number;
  private readonly rule: DelayRule;
  private readonly classes: Map<string, LearntLatencyClass>;
  private readonly other: LearntLatencyClass;
  /** Timers are never early and so always late: a copy due at the 93rd percentile would go out at the 95th. */
  private latenessMs: number;
  private readonly floorMs: number;

  constructor(max: number, rule: DelayRule) {
    this.max = max;
    this.rule = rule;
    this.latenessMs = 0;
    this.floorMs = rule.floorMs ?? Number.POSITIVE_INFINITY;
    this.classes = new Map();
    this.other = new LearntLatencyClass(OTHER_KEY, rule);
  }

  classOf(key: string): LearntLatencyClass {
    const known = this.classes.get(key);
    if (known !== undefined) return known;
    if (this.classes.size >= MAX_CLASSES || key === OTHER_KEY) return this.other;
    const made = new LearntLatencyClass(key, this.rule);
    this.classes.set(key, made);
    return made;
  }

  delayMs(cls: LatencyClass, nowMs: number): number {
    const delayMs = learnt(cls).delayAtMs(nowMs);
    // A fixed delay is what its owner said, and has no floor to be shortened to.
    return delayMs > this.floorMs ? Math.max(delayMs - this.latenessMs, this.floorMs) : delayMs;
  }

  woken(lateMs: number): void {
    this.latenessMs += LATENESS_RATIO * (Math.min(lateMs, MAX_LATENESS_MS) - this.latenessMs);
  }

  record(cls: LatencyClass, latencyMs: number, censored: boolean, nowMs: number): void {
    learnt(cls).record(latencyMs, censored, nowMs);
  }
}

/** Every class comes from `classOf`, so it is one of ours. */
function learnt(cls: LatencyClass): LearntLatencyClass {
  return cls as LearntLatencyClass;
}

function delayRule(options: HedgeOptions, extraRatio: number, max: number): DelayRule {
  const { floorMs, ceilingMs, minSamples } = checkBounds(options);
  const { afterMs } = options;
  if (typeof afterMs === "number") {
    checkOption(
      { "hedge.afterMs": afterMs },
      "milliseconds >= 0",
      afterMs >= 0 && afterMs < Number.POSITIVE_INFINITY,
    );
    return fixedDelay(afterMs);
  }
  if (afterMs === "auto")
    return adaptiveDelay({
      quantile: autoQuantile(extraRatio, max),
      floorMs,
      ceilingMs,
      minSamples,
    });
  const quantile = afterMs?.quantile;
  checkOption(
    { "hedge.afterMs": afterMs },
    'milliseconds, "auto" or a quantile in (0, 1)',
    typeof quantile === "number" && quantile > 0 && quantile < 1,
  );
  return adaptiveDelay({ quantile, floorMs, ceilingMs, minSamples });
}

function fixedDelay(delayMs: number): DelayRule {
  return { minSamples: DEFAULT_MIN_SAMPLES, initialDelayMs: delayMs };
}

function checkBounds(options: HedgeOptions): {
  floorMs: number;
  ceilingMs: number;
  minSamples: number;
} {
  const { floorMs = DEFAULT_FLOOR_MS, minSamples = DEFAULT_MIN_SAMPLES } = options;
  checkOption(
    { "hedge.floorMs": floorMs },
    "milliseconds >= 0",
    floorMs >= 0 && floorMs < Number.POSITIVE_INFINITY,
  );
  const given = options.floorMs !== undefined && floorMs > 0;
  const ceilingMs = options.ceilingMs ?? (given ? CEILING_TO_FLOOR * floorMs : DEFAULT_CEILING_MS);
  checkOption(
    { "hedge.ceilingMs": ceilingMs },
    `milliseconds, at least the floor of ${floorMs}`,
    ceilingMs >= floorMs,
  );
  checkOption(
    { "hedge.minSamples": minSamples },
    "a whole number >= 20",
    Number.isInteger(minSamples) && minSamples >= 20,
  );
  return { floorMs, ceilingMs, minSamples };
}
