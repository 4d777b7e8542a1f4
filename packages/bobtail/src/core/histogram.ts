import { checkOption } from "./errors.ts";
import { decodeContent, encodeContent } from "./histogram-codec.ts";
import { bucketMiddle, bucketOf } from "./histogram-layout.ts";

export interface HistogramOptions {
  /** Resolution; 32, 64 or 128 (default): a value is off by at most 1 / (2 x this) of itself. */
  readonly subBucketsPerOctave?: 32 | 64 | 128 | undefined;
  /** Greatest value told apart; a whole number in [1, 2^53), default 3,600,000,000 (an hour of microseconds). */
  readonly maxValue?: number | undefined;
}

const DEFAULT_MAX_VALUE = 3_600_000_000;
const UINT32_MAX = 4294967295;
/** Undoes the rounding of `q * n`: 0.07 x 100 is 7.000000000000001 in doubles, and means the seventh. */
const RANK_SLACK: number = 1 - 4 * Number.EPSILON;

/**
 * Counts of non-negative values, log-linear: quantiles to a known relative error in a fixed amount of memory.
 *
 * Values are in whole units (Bobtail uses microseconds); fractions are rounded to the nearest. Below
 * twice `subBucketsPerOctave` they are exact. NaN and negative values are refused: they change
 * `refusedCount` and nothing else, because a clock that jumps must not break what it measures.
 * Empty: `min`, `max`, `mean` and every quantile are NaN.
 */
export class Histogram {
  readonly subBucketsPerOctave: number;
  readonly maxValue: number;
  private readonly bits: number;
  /** Smaller values are rounded by a conversion, and are in range. */
  private readonly plainBelow: number;
  private counts: Uint32Array | Float64Array;
  private total: number;
  private lowest: number;
  private highest: number;
  private sumOfValues: number;
  private overRange: number;
  private refused: number;

  /** Throws `ERR_BOBTAIL_OPTION` for an option out of range. */
  constructor(options: HistogramOptions = {}) {
    const { subBucketsPerOctave = 128, maxValue = DEFAULT_MAX_VALUE } = options;
    checkOption(
      { subBucketsPerOctave },
      "32, 64 or 128",
      subBucketsPerOctave === 32 || subBucketsPerOctave === 64 || subBucketsPerOctave === 128,
    );
    checkOption(
      { maxValue },
      "a whole number in [1, 2^53)",
      Number.isSafeInteger(maxValue) && maxValue >= 1,
    );
    this.subBucketsPerOctave = subBucketsPerOctave;
    this.maxValue = maxValue;
    this.bits = 31 - Math.clz32(subBucketsPerOctave);
    this.plainBelow = Math.min(maxValue, 2147483647);
    this.counts = new Uint32Array(bucketOf(maxValue, this.bits) + 1);
    this.total = 0;
    this.lowest = Number.POSITIVE_INFINITY;
    this.highest = Number.NEGATIVE_INFINITY;
    this.sumOfValues = 0;
    this.overRange = 0;
    this.refused = 0;
  }

  /** Values recorded, those above `maxValue` included. */
  get count(): number {
    return this.total;
  }

  get min(): number {
    return this.total === 0 ? Number.NaN : this.lowest;
  }

  get max(): number {
    return this.total === 0 ? Number.NaN : this.highest;
  }

  /** Values above `maxValue` add `maxValue`. */
  get sum(): number {
    return this.sumOfValues;
  }

  get mean(): number {
    return this.total === 0 ? Number.NaN : this.sumOfValues / this.total;
  }

  /** Values above `maxValue`: they are counted as `maxValue`, so quantiles in their range are lower bounds. */
  get overRangeCount(): number {
    return this.overRange;
  }

  /** Values that were no quantity: NaN or negative. Not part of `count`. */
  get refusedCount(): number {
    return this.refused;
  }

  /** @param count - how often the value occurred; a whole number >= 1, default 1, else `ERR_BOBTAIL_OPTION`. */
  record(value: number, count: number = 1): void {
    if (count !== 1) checkCount(count);
    if (value >= 0 && value < this.plainBelow) this.put((value + 0.5) | 0, count);
    else this.recordExtreme(value, count);
  }

  private put(whole: number, count: number): void {
    const index = bucketOf(whole, this.bits);
    const next = (this.counts[index] as number) + count;
    if (next > UINT32_MAX) this.widen();
    this.counts[index] = next;
    this.total += count;
    this.sumOfValues += whole * count;
    if (whole < this.lowest) this.lowest = whole;
    if (whole > this.highest) this.highest = whole;
  }

  private recordExtreme(value: number, count: number): void {
    if (!(value >= 0)) {
      this.refused += count;
      return;
    }
    const whole = Math.round(value);
    if (whole > this.maxValue) this.overRange += count;
    this.put(Math.min(whole, this.maxValue), count);
  }

  /**
   * The value of rank ceil(q x n): at least that share of the values is not above it.
   *
   * @param q - in [0, 1], else `ERR_BOBTAIL_OPTION`: 95 is a percentage. 0 is the minimum, 1 the maximum.
   * @returns NaN when empty.
   */
  quantile(q: number): number {
    checkOption({ q }, "a quantile in [0, 1]", q >= 0 && q <= 1);
    if (this.total === 0) return Number.NaN;
    const rank = Math.ceil(q * this.total * RANK_SLACK);
    if (rank <= 1) return this.lowest;
    if (rank >= this.total) return this.highest;

    let index = -1;
    let seen = 0;
    while (seen < rank) seen += this.counts[++index] as number;
    return this.inRange(bucketMiddle(index, this.bits));
  }

  /**
   * How many values are at most that, to the resolution of the buckets (a bucket counts from its middle on).
   *
   * Never decreases as `value` grows. Values above `maxValue` are counted at Infinity alone.
   */
  countAtMost(value: number): number {
    if (value === Number.POSITIVE_INFINITY) return this.total;
    const inRange = this.total - this.overRange;
    if (value >= this.highest) return inRange;
    if (!(value >= this.lowest)) return 0;
    const whole = Math.floor(value);
    const last = bucketOf(whole, this.bits);
    let count = bucketMiddle(last, this.bits) <= value ? (this.counts[last] as number) : 0;
    for (let index = 0; index < last; index++) count += this.counts[index] as number;
    // The lowest value itself is known exactly, wherever it lies in its bucket.
    if (count === 0) count = this.counts[last] as number;
    return Math.min(count, inRange);
  }

  /** Adds the values of a histogram of the same shape; of another, throws `ERR_BOBTAIL_OPTION`. */
  add(other: Histogram): void {
    this.checkShape(other);
    const counts = other.counts;
    for (let index = 0; index < counts.length; index++) {
      const next = (this.counts[index] as number) + (counts[index] as number);
      if (next > UINT32_MAX) this.widen();
      this.counts[index] = next;
    }
    this.total += other.total;
    this.sumOfValues += other.sumOfValues;
    this.overRange += other.overRange;
    this.refused += other.refused;
    this.lowest = Math.min(this.lowest, other.lowest);
    this.highest = Math.max(this.highest, other.highest);
  }

  /**
   * Takes away an earlier state of this histogram, which leaves what came since. `min` and `max` are
   * then known to the resolution of the buckets.
   *
   * Throws `ERR_BOBTAIL_OPTION`, and changes nothing, when `other` is not contained in it.
   */
  subtract(other: Histogram): void {
    this.checkShape(other);
    const contained =
      other.overRange <= this.overRange &&
      other.refused <= this.refused &&
      this.counts.every((count: number, index: number) => count >= (other.counts[index] as number));
    checkOption({ other: `${other.total} values` }, "values that were added before", contained);

    let first = -1;
    let last = -1;
    for (let index = 0; index < this.counts.length; index++) {
      const next = (this.counts[index] as number) - (other.counts[index] as number);
      this.counts[index] = next;
      if (next === 0) continue;
      if (first < 0) first = index;
      last = index;
    }
    this.total -= other.total;
    this.overRange -= other.overRange;
    this.refused -= other.refused;
    this.sumOfValues = this.total === 0 ? 0 : Math.max(0, this.sumOfValues - other.sumOfValues);
    if (this.total === 0) {
      this.lowest = Number.POSITIVE_INFINITY;
      this.highest = Number.NEGATIVE_INFINITY;
      return;
    }
    const lowest = this.inRange(bucketMiddle(first, this.bits));
    const highest = this.inRange(bucketMiddle(last, this.bits));
    this.lowest = lowest;
    this.highest = this.overRange > 0 ? this.maxValue : highest;
  }

  clone(): Histogram {
    const copy = this.emptyCopy();
    copy.add(this);
    return copy;
  }

  reset(): void {
    this.counts.fill(0);
    this.total = 0;
    this.lowest = Number.POSITIVE_INFINITY;
    this.highest = Number.NEGATIVE_INFINITY;
    this.sumOfValues = 0;
    this.overRange = 0;
    this.refused = 0;
  }

  /** A few bytes for each filled bucket; the same histogram always gives the same bytes. */
  encode(): Uint8Array {
    const { bits, maxValue, counts, overRange: overRangeCount, refused: refusedCount } = this;
    const [min, max, sum] = [this.lowest, this.highest, this.sumOfValues];
    return encodeContent({ bits, maxValue, counts, overRangeCount, refusedCount, min, max, sum });
  }

  /** Throws `ERR_BOBTAIL_OPTION` for bytes that `encode` could not have made. */
  static decode(bytes: Uint8Array): Histogram {
    const content = decodeContent(bytes);
    const { maxValue, counts } = content;
    const histogram = new Histogram({
      subBucketsPerOctave: (1 << content.bits) as 32 | 64 | 128,
      maxValue,
    });
    for (let index = 0; index < counts.length; index++) {
      const count = counts[index] as number;
      if (count > UINT32_MAX) histogram.widen();
      histogram.counts[index] = count;
      histogram.total += count;
    }
    histogram.overRange = content.overRangeCount;
    histogram.refused = content.refusedCount;
    if (histogram.total === 0) return histogram;
    histogram.lowest = content.min;
    histogram.highest = content.max;
    histogram.sumOfValues = content.sum;
    return histogram;
  }

  /** Counters of 32 bits hold a day at 50,000 a second in one bucket; from then on doubles count, exact to 2^53. */
  private widen(): void {
    if (this.counts instanceof Uint32Array) this.counts = Float64Array.from(this.counts);
  }

  private emptyCopy(): Histogram {
    const subBucketsPerOctave = this.subBucketsPerOctave as 32 | 64 | 128;
    return new Histogram({ subBucketsPerOctave, maxValue: this.maxValue });
  }

  private inRange(value: number): number {
    return Math.max(this.lowest, Math.min(value, this.highest));
  }

  private checkShape(other: Histogram): void {
    checkOption(
      { other: `${other.subBucketsPerOctave} an octave up to ${other.maxValue}` },
      `${this.subBucketsPerOctave} an octave up to ${this.maxValue}`,
      other.bits === this.bits && other.maxValue === this.maxValue,
    );
  }
}

function checkCount(count: number): void {
  checkOption({ count }, "a whole number >= 1", Number.isSafeInteger(count) && count >= 1);
}
