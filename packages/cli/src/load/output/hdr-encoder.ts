import { deflateSync } from "node:zlib";
import type { Histogram } from "bobtail/engine";
import { empiricalFromHistogram } from "bobtail/plan";

/** "HIST" in base64, then version 2: with the size of a word, which the versions before it had, in the second half of the last byte. */
const V2_COOKIE = 0x1c849313;
const V2_COMPRESSED_COOKIE = 0x1c849314;
const HEADER_BYTES = 40;
/** Three significant digits: 2,048 values are told apart exactly, then 1,024 an octave. */
const DIGITS = 3;
const HALF_MAGNITUDE = 10;
const HALF_COUNT = 1_024;

/**
 * A histogram in the V2 encoding of HdrHistogram, compressed: what `.hlog` files hold in base64. Values keep their unit, to
 * three digits; our own buckets, an eighth as fine, stand at their middles.
 *
 * Source: Tene, HdrHistogram, V2 encoding: ZigZag LEB128 counters, runs of zeros as negative numbers.
 */
export function encodeHdr(histogram: Histogram): Uint8Array {
  const payload = encodeCounters(histogram);
  const plain = new Uint8Array(HEADER_BYTES + payload.length);
  const view = new DataView(plain.buffer);
  view.setInt32(0, V2_COOKIE);
  view.setInt32(4, payload.length);
  view.setInt32(12, DIGITS);
  view.setBigInt64(16, 1n);
  view.setBigInt64(24, BigInt(histogram.maxValue));
  view.setFloat64(32, 1);
  plain.set(payload, HEADER_BYTES);

  const deflated = deflateSync(plain);
  const bytes = new Uint8Array(8 + deflated.length);
  const head = new DataView(bytes.buffer);
  head.setInt32(0, V2_COMPRESSED_COOKIE);
  head.setInt32(4, deflated.length);
  bytes.set(deflated, 8);
  return bytes;
}

function encodeCounters(histogram: Histogram): number[] {
  const bytes: number[] = [];
  if (histogram.count === 0) return bytes;
  const { valuesMs: values, cumulative } = empiricalFromHistogram(histogram, 1);
  let next = 0;
  let counted = 0;
  let index = -1;
  let count = 0;
  const flush = (): void => {
    if (count === 0) return;
    const zeros = index - next;
    if (zeros > 0) pushZigZag(bytes, zeros === 1 ? 0 : -zeros);
    pushZigZag(bytes, count);
    next = index + 1;
  };
  values.forEach((value, i) => {
    const at = counterOf(Math.floor(value));
    const upTo = cumulative[i] as number;
    if (at !== index) {
      flush();
      index = at;
      count = 0;
    }
    count += upTo - counted;
    counted = upTo;
  });
  flush();
  return bytes;
}

function counterOf(whole: number): number {
  const octave = Math.max(0, Math.floor(Math.log2(Math.max(1, whole))) - HALF_MAGNITUDE);
  return octave * HALF_COUNT + Math.floor(whole / 2 ** octave);
}

/** Up to 2^53, of which the double is exact too. */
function pushZigZag(bytes: number[], whole: number): void {
  let rest = whole >= 0 ? 2 * whole : -2 * whole - 1;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}
