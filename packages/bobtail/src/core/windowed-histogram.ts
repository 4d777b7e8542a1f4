import { checkOption } from "./errors.ts";
import { Histogram, type HistogramOptions } from "./histogram.ts";

export interface WindowedHistogramOptions extends HistogramOptions {
  /** A whole number in [1, 60], default 3. */
  readonly slotCount?: number | undefined;
  /** A value is remembered for between slotCount - 1 and slotCount times this; ms above 0, default 10,000. */
  readonly slotMs?: number | undefined;
}

/**
 * A histogram of the recent past: a ring of slots, of which each is emptied when its turn comes again.
 *
 * A long silence costs nothing, because a slot knows the time that it stands for. Reading changes nothing.
 * A `nowMs` before an earlier one counts as that one.
 */
export class WindowedHistogram {
  readonly slotCount: number;
  readonly slotMs: number;
  private readonly options: HistogramOptions;
  private readonly slots: Histogram[];
  /** Which multiple of `slotMs` each slot holds. */
  private readonly turns: Float64Array;
  private latestTurn: number;

  /** Throws `ERR_BOBTAIL_OPTION` for an option out of range. */
  constructor(options: WindowedHistogramOptions = {}) {
    const { slotCount = 3, slotMs = 10_000, ...rest } = options;
    checkOption(
      { slotCount },
      "a whole number in [1, 60]",
      Number.isInteger(slotCount) && slotCount >= 1 && slotCount <= 60,
    );
    checkOption(
      { slotMs },
      "milliseconds above 0",
      slotMs > 0 && slotMs < Number.POSITIVE_INFINITY,
    );
    this.slotCount = slotCount;
    this.slotMs = slotMs;
    this.options = rest;
    this.slots = Array.from({ length: slotCount }, () => new Histogram(rest));
    this.turns = new Float64Array(slotCount).fill(Number.NEGATIVE_INFINITY);
    this.latestTurn = Number.NEGATIVE_INFINITY;
  }

  record(value: number, nowMs: number, count: number = 1): void {
    const turn = this.turnAt(nowMs);
    const place = this.placeOf(turn);
    const slot = this.slots[place] as Histogram;
    if (this.turns[place] !== turn) {
      slot.reset();
      this.turns[place] = turn;
      this.latestTurn = turn;
    }
    slot.record(value, count);
  }

  /** What was recorded in the window that ends now. The caller's own copy. */
  snapshot(nowMs: number): Histogram {
    const merged = new Histogram(this.options);
    const oldest = this.turnAt(nowMs) - this.slotCount;
    this.slots.forEach((slot, place) => {
      if ((this.turns[place] as number) > oldest) merged.add(slot);
    });
    return merged;
  }

  /** {@link Histogram.quantile} of the window that ends now; NaN when nothing is in it. */
  quantile(q: number, nowMs: number): number {
    return this.snapshot(nowMs).quantile(q);
  }

  private turnAt(nowMs: number): number {
    return Math.max(this.latestTurn, Math.floor(nowMs / this.slotMs));
  }

  private placeOf(turn: number): number {
    const place = turn % this.slotCount;
    return place < 0 ? place + this.slotCount : place;
  }
}
