import { bucketLow, bucketOf, bucketWidth } from "../core/histogram-layout.ts";
import { kaplanMeierBucket, type LatencyCounts } from "./kaplan-meier.ts";

/** 64 buckets an octave of microseconds: an estimate is at most 1.6 % above the truth. */
const BITS = 6;
/** Just under 18 minutes; longer ones count as that. */
const MAX_US: number = 2 ** 30 - 1;
const BUCKET_COUNT: number = bucketOf(MAX_US, BITS) + 1;
const SLOT_COUNT = 5;
const SLOT_MS = 2_000;
const MAX_SLOT_MS = 180_000;
/** A slot has a say in a quantile when this many of its samples are expected beyond it. */
const MIN_BEYOND = 5;

/** How long anything may stay in a window, and so how long silence leaves an estimate in force: 15 minutes. */
export const WINDOW_MAX_MS: number = SLOT_COUNT * MAX_SLOT_MS;

/**
 * The recent latencies of one class: five slots, the oldest of which is dropped when a new one opens.
 *
 * A slot is closed after 2 s if it then holds a quarter of the samples that an estimate needs, else as soon
 * as it does, at the latest after 3 minutes: a class of few calls looks back further instead of never
 * knowing enough, and the four closed slots alone are enough for an estimate. Memory: 35 KiB, twice that once something was censored.
 */
export class LatencyWindow {
  private readonly slots: Slot[];
  private readonly slotSamples: number;
  private current: number;
  private open: Slot;
  /** Before that, the open slot is not asked whether it is full. */
  private turnAtMs: number;

  constructor(minSamples: number, nowMs: number) {
    this.slotSamples = Math.ceil(minSamples / (SLOT_COUNT - 1));
    this.slots = Array.from({ length: SLOT_COUNT }, () => new Slot(nowMs));
    this.current = 0;
    this.open = this.slots[0] as Slot;
    this.turnAtMs = nowMs + SLOT_MS;
  }

  get count(): number {
    return this.slots.reduce((sum, slot) => sum + slot.total, 0);
  }

  record(latencyMs: number, censored: boolean, nowMs: number): void {
    if (nowMs >= this.turnAtMs) this.turn(nowMs);
    // Not a time: a clock that jumps must not break the calls that it measures.
    if (!(latencyMs >= 0)) return;
    const bucket = bucketOf(Math.min(latencyMs * 1000 + 0.5, MAX_US) | 0, BITS);
    if (censored) this.open.countCensored(bucket);
    else this.open.count(bucket);
  }

  /** Forget everything. */
  clear(nowMs: number): void {
    for (const slot of this.slots) slot.reset(nowMs);
    this.turnAtMs = nowMs + SLOT_MS;
  }

  /** The whole window in one, for {@link quantileMs}. */
  merge(): MergedLatencies {
    return new MergedLatencies(this.slots);
  }

  private turn(nowMs: number): void {
    const { total, openedMs } = this.open;
    if (total < this.slotSamples && nowMs - openedMs < MAX_SLOT_MS) return;
    this.current = (this.current + 1) % SLOT_COUNT;
    this.open = this.slots[this.current] as Slot;
    this.open.reset(nowMs);
    this.turnAtMs = nowMs + SLOT_MS;
  }
}

/** A snapshot of a window. Short-lived: it is made for one refresh. */
export class MergedLatencies implements LatencyCounts {
  readonly answered: Uint32Array;
  readonly censored: Uint32Array | undefined;
  readonly lowest: number;
  readonly highest: number;
  readonly total: number;
  private readonly slots: readonly LatencyCounts[];

  constructor(slots: readonly LatencyCounts[]) {
    this.slots = slots;
    this.lowest = Math.min(...slots.map((slot) => slot.lowest));
    this.highest = Math.max(...slots.map((slot) => slot.highest));
    this.total = slots.reduce((sum, slot) => sum + slot.total, 0);
    this.answered = new Uint32Array(BUCKET_COUNT);
    const anyCensored = slots.some((slot) => slot.censored !== undefined);
    this.censored = anyCensored ? new Uint32Array(BUCKET_COUNT) : undefined;
    for (const slot of slots) {
      addInto(this.answered, slot.answered, slot);
      if (this.censored !== undefined && slot.censored !== undefined)
        addInto(this.censored, slot.censored, slot);
    }
  }

  /**
   * The time by which that share of the latencies has ended: the upper end of a bucket, so that where many
   * calls take equally long, they are given until then.
   *
   * @returns undefined when censoring hides it: it is then no less than {@link longestMs}.
   */
  quantileMs(quantile: number): number | undefined {
    const bucket = kaplanMeierBucket(this, 1 - quantile);
    return bucket < 0 ? undefined : bucketEndMs(bucket);
  }

  /**
   * The same of a typical slot: the lower median of those that hold enough, else the quantile of the whole.
   *
   * A pause of the whole fleet fills one slot with long latencies that no hedge could have cured. In the whole
   * window they would push the delay up, out of reach of the slow calls after it; the budget bounds
   * what the pause itself may cost.
   */
  typicalQuantileMs(quantile: number): number | undefined {
    const able = this.slots.filter((slot) => slot.total * (1 - quantile) >= MIN_BEYOND);
    if (able.length < 2) return this.quantileMs(quantile);
    const buckets = able.map((slot) => kaplanMeierBucket(slot, 1 - quantile));
    const ordered = buckets.map((b) => (b < 0 ? BUCKET_COUNT : b)).sort((a, b) => a - b);
    const bucket = ordered[(ordered.length - 1) >> 1] as number;
    return bucket === BUCKET_COUNT ? undefined : bucketEndMs(bucket);
  }

  /** The longest time that anything was seen to run; 0 when nothing was. */
  get longestMs(): number {
    return this.total === 0 ? 0 : bucketEndMs(this.highest);
  }
}

class Slot implements LatencyCounts {
  readonly answered: Uint32Array;
  censored: Uint32Array | undefined;
  lowest: number;
  highest: number;
  total: number;
  openedMs: number;

  constructor(nowMs: number) {
    this.answered = new Uint32Array(BUCKET_COUNT);
    this.censored = undefined;
    this.lowest = BUCKET_COUNT;
    this.highest = -1;
    this.total = 0;
    this.openedMs = nowMs;
  }

  count(bucket: number): void {
    this.answered[bucket] = (this.answered[bucket] as number) + 1;
    this.note(bucket);
  }

  countCensored(bucket: number): void {
    this.censored ??= new Uint32Array(BUCKET_COUNT);
    this.censored[bucket] = (this.censored[bucket] as number) + 1;
    this.note(bucket);
  }

  private note(bucket: number): void {
    this.total++;
    if (bucket < this.lowest) this.lowest = bucket;
    if (bucket > this.highest) this.highest = bucket;
  }

  reset(nowMs: number): void {
    this.answered.fill(0);
    this.censored?.fill(0);
    this.lowest = BUCKET_COUNT;
    this.highest = -1;
    this.total = 0;
    this.openedMs = nowMs;
  }
}

function bucketEndMs(bucket: number): number {
  return (bucketLow(bucket, BITS) + bucketWidth(bucket, BITS)) / 1000;
}

function addInto(sum: Uint32Array, counts: Uint32Array, { lowest, highest }: LatencyCounts): void {
  for (let i = lowest; i <= highest; i++) sum[i] = (sum[i] as number) + (counts[i] as number);
}
