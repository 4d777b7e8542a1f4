/**
 * Log-linear buckets over whole numbers: every octave is cut into 2^bits buckets of equal width.
 *
 * Below 2^(bits + 1) a bucket holds one value; above, its width is at most 1 / 2^bits of its lowest value.
 * Source: Tene, "HdrHistogram", 2012.
 */
export function bucketOf(whole: number, bits: number): number {
  if (whole >= 2147483648) return bucketOfLarge(whole, bits);
  const shift = 31 - bits - Math.clz32(whole);
  return shift > 0 ? (shift << bits) + (whole >>> shift) : whole;
}

function bucketOfLarge(whole: number, bits: number): number {
  // Math.clz32 sees 32 bits: the upper 31 of 53 are enough to find the octave.
  const shift = 31 - Math.clz32(Math.floor(whole / 4194304)) + 22 - bits;
  return (shift << bits) + Math.floor(whole / 2 ** shift);
}

/** The lowest value of a bucket. */
export function bucketLow(index: number, bits: number): number {
  const octave = index >> bits;
  if (octave < 2) return index;
  const perOctave = 1 << bits;
  return ((index & (perOctave - 1)) + perOctave) * 2 ** (octave - 1);
}

/** How many whole values a bucket holds. */
export function bucketWidth(index: number, bits: number): number {
  const octave = index >> bits;
  return octave < 2 ? 1 : 2 ** (octave - 1);
}

/** The middle of a bucket: no value in it is further away than 1 / 2^(bits + 1) of itself. */
export function bucketMiddle(index: number, bits: number): number {
  return bucketLow(index, bits) + (bucketWidth(index, bits) - 1) / 2;
}
