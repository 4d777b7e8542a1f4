import { inflateSync } from "node:zlib";

const V2_COOKIE = 0x1c849303;
const V2_COMPRESSED_COOKIE = 0x1c849304;
const V1_COMPRESSED_COOKIE = 0x1c849302;
/** An hour of nanoseconds to five digits takes some 8 MiB of counters, and far less when encoded. */
const MAX_INFLATED_BYTES = 67_108_864;
const MAX_COUNTERS = 16_777_216;
const HEADER_BYTES = 40;

/** What a damaged histogram says of itself. */
export class HdrError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "HdrError";
  }
}

/**
 * The values and counts of an HdrHistogram in its V2 encoding, compressed or not; values in the log's own unit.
 *
 * Throws {@link HdrError} for bytes that are none: nothing is trusted, nothing larger than named is allocated.
 * Source: Tene, HdrHistogram, V2 encoding: ZigZag LEB128 counters, runs of zeros as negative numbers.
 */
export function decodeHdr(
  bytes: Uint8Array,
  onValue: (value: number, count: number) => void,
): void {
  const view = viewOf(bytes);
  if (bytes.length < 8) throw new HdrError("cut short");
  const cookie = (view.getInt32(0) & ~0xf0) >>> 0;
  if (cookie === V2_COOKIE) {
    decodeCounters(bytes, onValue);
    return;
  }
  if (cookie === V1_COMPRESSED_COOKIE) throw new HdrError("encoding V1 is not read, V2 is");
  if (cookie !== V2_COMPRESSED_COOKIE) throw new HdrError("not an HdrHistogram");
  const length = view.getInt32(4);
  if (length < 0 || length > bytes.length - 8) throw new HdrError("cut short");
  decodeCounters(inflate(bytes.subarray(8, 8 + length)), onValue);
}

function inflate(bytes: Uint8Array): Uint8Array {
  try {
    return inflateSync(bytes, { maxOutputLength: MAX_INFLATED_BYTES });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new HdrError(code === "ERR_BUFFER_TOO_LARGE" ? "larger than 64 MiB" : "does not inflate");
  }
}

function decodeCounters(bytes: Uint8Array, onValue: (value: number, count: number) => void): void {
  const view = viewOf(bytes);
  if (bytes.length < HEADER_BYTES) throw new HdrError("cut short");
  if ((view.getInt32(0) & ~0xf0) >>> 0 !== V2_COOKIE) throw new HdrError("not an HdrHistogram");
  const payloadBytes = view.getInt32(4);
  const digits = view.getInt32(12);
  const lowest = Number(view.getBigInt64(16));
  if (payloadBytes < 0 || payloadBytes > bytes.length - HEADER_BYTES)
    throw new HdrError("cut short");
  if (!(digits >= 0 && digits <= 5)) throw new HdrError("digits out of range");
  if (!(lowest >= 1 && lowest < 2 ** 40)) throw new HdrError("lowest value out of range");
  // HdrHistogramJS writes 1 where nothing is shifted, all others 0.
  if (view.getInt32(8) !== 0 && view.getInt32(8) !== 1)
    throw new HdrError("shifted, which is not read");

  const layout = layoutOf(digits, lowest);
  const reader = new ZigZagReader(bytes.subarray(HEADER_BYTES, HEADER_BYTES + payloadBytes));
  for (let index = 0; !reader.atEnd(); ) {
    const number = reader.next();
    if (number <= 0) {
      // A zero is a run of one; a longer run is negative.
      index += number === 0 ? 1 : -number;
    } else {
      onValue(valueAt(index, layout), number);
      index++;
    }
    if (index > MAX_COUNTERS) throw new HdrError("more counters than any has");
  }
}

interface Layout {
  readonly unitMagnitude: number;
  readonly halfMagnitude: number;
}

function layoutOf(digits: number, lowest: number): Layout {
  const subBuckets = Math.max(1, Math.ceil(Math.log2(2 * 10 ** digits)));
  return { unitMagnitude: Math.floor(Math.log2(lowest)), halfMagnitude: subBuckets - 1 };
}

/** The middle of the values that one counter stands for. */
function valueAt(index: number, { unitMagnitude, halfMagnitude }: Layout): number {
  const half = 2 ** halfMagnitude;
  const octave = Math.floor(index / half) - 1;
  const sub = index % half;
  const low = octave < 0 ? sub : sub + half;
  const size = 2 ** (Math.max(0, octave) + unitMagnitude);
  return low * size + Math.floor(size / 2);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

class ZigZagReader {
  private readonly bytes: Uint8Array;
  private offset: number;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.offset = 0;
  }

  atEnd(): boolean {
    return this.offset >= this.bytes.length;
  }

  next(): number {
    let whole = 0n;
    for (let i = 0; ; i++) {
      const byte = this.bytes[this.offset++];
      if (byte === undefined) throw new HdrError("cut short");
      // The ninth byte has no continuation bit: all its eight count.
      if (i === 8) {
        whole |= BigInt(byte) << 56n;
        break;
      }
      whole |= BigInt(byte & 0x7f) << BigInt(7 * i);
      if (byte < 128) break;
    }
    const number = Number((whole >> 1n) ^ -(whole & 1n));
    if (!Number.isSafeInteger(number)) throw new HdrError("a count beyond 2^53");
    return number;
  }
}
