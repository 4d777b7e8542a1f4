const SIZE = 624;
const SHIFT = 397;
const MAGIC: number = (4 * Math.exp(-0.5)) / Math.SQRT2;

/**
 * The random numbers of Python's `random.Random(seed)`, draw for draw, so that programs written in it can be
 * repeated to the last printed digit. For golden tests and the scenarios that repeat published programs; everything else takes an `Rng`.
 *
 * Source: Matsumoto & Nishimura, "Mersenne Twister", ACM TOMACS 8(1), 1998; the derived draws as CPython 3.11 documents them.
 */
export class Mt19937 {
  private readonly state: Uint32Array;
  private index: number;

  /** @param seed - a whole number in [0, 2^32). */
  constructor(seed: number) {
    this.state = seededState(seed >>> 0);
    this.index = SIZE;
  }

  uint32(): number {
    if (this.index >= SIZE) this.refill();
    let y = this.state[this.index++] as number;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    y ^= y >>> 18;
    return y >>> 0;
  }

  /** Uniform in [0, 1), 53 bits of resolution. */
  random(): number {
    const high = this.uint32() >>> 5;
    const low = this.uint32() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  }

  /** Uniform whole number in [0, bound), by rejection; bound in [1, 2^32). */
  below(bound: number): number {
    const shift = Math.clz32(bound);
    let value = this.uint32() >>> shift;
    while (value >= bound) value = this.uint32() >>> shift;
    return value;
  }

  /** Two distinct whole numbers in [0, count), in the order drawn; count in [2, 21], where Python draws from a pool. */
  pair(count: number): readonly [number, number] {
    const first = this.below(count);
    const second = this.below(count - 1);
    return [first, second === first ? count - 1 : second];
  }

  exponential(rate: number): number {
    return -Math.log(1 - this.random()) / rate;
  }

  uniform(from: number, to: number): number {
    return from + (to - from) * this.random();
  }

  /** Source: Kinderman & Monahan, "Computer generation of random variables using the ratio of uniform deviates", ACM TOMS 3(3), 1977. */
  normal(mean: number, deviation: number): number {
    for (;;) {
      const u1 = this.random();
      const u2 = 1 - this.random();
      const z = (MAGIC * (u1 - 0.5)) / u2;
      if ((z * z) / 4 <= -Math.log(u2)) return mean + z * deviation;
    }
  }

  lognormal(mu: number, sigma: number): number {
    return Math.exp(this.normal(mu, sigma));
  }

  private refill(): void {
    const { state } = this;
    for (let i = 0; i < SIZE; i++) {
      const y =
        ((state[i] as number) & 0x80000000) | ((state[(i + 1) % SIZE] as number) & 0x7fffffff);
      const other = state[(i + SHIFT) % SIZE] as number;
      state[i] = other ^ (y >>> 1) ^ ((y & 1) * 0x9908b0df);
    }
    this.index = 0;
  }
}

/** `init_by_array` with a key of one word. */
function seededState(key: number): Uint32Array {
  const state = new Uint32Array(SIZE);
  state[0] = 19650218;
  const mixedAt = (i: number): number => {
    const before = state[i - 1] as number;
    return before ^ (before >>> 30);
  };
  for (let i = 1; i < SIZE; i++) state[i] = Math.imul(1812433253, mixedAt(i)) + i;
  let i = 1;
  const wrap = () => {
    if (++i < SIZE) return;
    state[0] = state[SIZE - 1] as number;
    i = 1;
  };
  for (let k = 0; k < SIZE; k++) {
    state[i] = ((state[i] as number) ^ Math.imul(mixedAt(i), 1664525)) + key;
    wrap();
  }
  for (let k = 0; k < SIZE - 1; k++) {
    state[i] = ((state[i] as number) ^ Math.imul(mixedAt(i), 1566083941)) - i;
    wrap();
  }
  state[0] = 0x80000000;
  return state;
}
