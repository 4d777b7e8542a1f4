import { checkOption } from "./errors.ts";
import { bucketOf } from "./histogram-layout.ts";

/** What a histogram is made of, apart from its methods. */
export interface HistogramContent {
  /** log2 of the buckets an octave; 5, 6 or 7. */
  readonly bits: number;
  readonly maxValue: number;
  readonly overRangeCount: number;
  readonly refusedCount: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  /** Whole counts by bucket. */
  readonly counts: Uint32Array | Float64Array;
}

const VERSION = 1;
const OPTION = "histogram bytes";
const REALS_BYTES = 24;
const MAX_VARINT_BYTES = 8;

/**
 * Version, bits, varints (maxValue, over range, refused, number of filled buckets), three little-endian
 * doubles (min, max, sum; zeros when empty), then a gap and a count for each filled bucket.
 */
export function encodeContent(content: HistogramContent): Uint8Array {
  const { counts } = content;
  const bytes: number[] = [VERSION, content.bits];
  let filled = 0;
  for (const count of counts) if (count > 0) filled++;
  for (const whole of [content.maxValue, content.overRangeCount, content.refusedCount, filled])
    pushVarint(bytes, whole);
  const reals = new DataView(new ArrayBuffer(REALS_BYTES));
  [content.min, content.max, content.sum].forEach((real, i) => {
    reals.setFloat64(i * 8, filled === 0 ? 0 : real, true);
  });
  for (let i = 0; i < REALS_BYTES; i++) bytes.push(reals.getUint8(i));

  let next = 0;
  for (let index = 0; index < counts.length; index++) {
    const count = counts[index] as number;
    if (count === 0) continue;
    pushVarint(bytes, index - next);
    pushVarint(bytes, count);
    next = index + 1;
  }
  return Uint8Array.from(bytes);
}

/**
 * The reverse. Bytes may come from anywhere: nothing is allocated that they could size beyond 48 KiB,
 * and what does not add up throws `ERR_BOBTAIL_OPTION` with the place in the bytes.
 */
export function decodeContent(bytes: Uint8Array): HistogramContent {
  const reader = new Reader(bytes);
  reader.check(reader.byte() === VERSION, `version ${VERSION}`);
  const bits = reader.byte();
  reader.check(bits >= 5 && bits <= 7, "5, 6 or 7 bits an octave");
  const maxValue = reader.varint();
  reader.check(maxValue >= 1, "a maxValue of at least 1");
  const overRangeCount = reader.varint();
  const refusedCount = reader.varint();
  const filled = reader.varint();
  const size = bucketOf(maxValue, bits) + 1;
  const min = reader.real();
  const max = reader.real();
  const sum = reader.real();

  const counts = new Float64Array(size);
  let next = 0;
  let total = 0;
  for (let i = 0; i < filled; i++) {
    const index = next + reader.varint();
    const count = reader.varint();
    reader.check(index < size && count > 0, "a count above 0 in a bucket below maxValue");
    if (i === 0)
      reader.check(bucketOf(Math.floor(min), bits) === index, "min in the lowest bucket");
    counts[index] = count;
    total += count;
    next = index + 1;
  }
  const last = next - 1;
  reader.check(total <= Number.MAX_SAFE_INTEGER, "a total of at most 2^53 - 1");
  reader.check(reader.atEnd(), "no bytes after the last bucket");
  if (filled === 0) reader.check(min + max + sum + overRangeCount === 0, "zeros where it is empty");
  else {
    const okMax = max >= min && max <= maxValue && bucketOf(Math.floor(max), bits) === last;
    reader.check(okMax, "max in the highest bucket");
    reader.check(overRangeCount <= (counts[last] as number), "over-range values in the top bucket");
    reader.check(overRangeCount === 0 || max === maxValue, "max at maxValue when it was passed");
  }
  return { bits, maxValue, overRangeCount, refusedCount, min, max, sum, counts };
}

function pushVarint(bytes: number[], whole: number): void {
  let rest = whole;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

class Reader {
  private readonly bytes: Uint8Array;
  private offset: number;

  constructor(bytes: Uint8Array) {
    checkOption({ [OPTION]: typeof bytes }, "a Uint8Array", bytes instanceof Uint8Array);
    this.bytes = bytes;
    this.offset = 0;
  }

  check(ok: boolean, expected: string): void {
    if (ok) return;
    const received = `something else before byte ${this.offset} of ${this.bytes.length}`;
    checkOption({ [OPTION]: received }, expected, false);
  }

  atEnd(): boolean {
    return this.offset === this.bytes.length;
  }

  byte(): number {
    const byte = this.bytes[this.offset];
    this.check(byte !== undefined, "more bytes");
    this.offset++;
    return byte as number;
  }

  varint(): number {
    let whole = 0;
    let unit = 1;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      const byte = this.byte();
      whole += (byte % 128) * unit;
      if (byte < 128) {
        this.check(whole <= Number.MAX_SAFE_INTEGER, "a whole number up to 2^53 - 1");
        return whole;
      }
      unit *= 128;
    }
    this.check(false, `a whole number of at most ${MAX_VARINT_BYTES} bytes`);
    return 0;
  }

  real(): number {
    this.check(this.offset + 8 <= this.bytes.length, "more bytes");
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.offset, 8);
    this.offset += 8;
    const real = view.getFloat64(0, true);
    this.check(real >= 0 && real < Number.POSITIVE_INFINITY, "a finite number >= 0");
    return real;
  }
}
