/** A stream of random numbers. Every decision that involves chance takes one. */
export interface Rng {
  /** Uniform in [0, 1), 32 bits of resolution. */
  next(): number;
  /** Uniform whole number in [0, bound); bound in [1, 2^31]. */
  below(bound: number): number;
  /** An independent stream for one purpose: the same name from the same seed gives the same stream. */
  split(purpose: string): Rng;
}

/**
 * A seeded stream that a run can be replayed from.
 *
 * @param seed - any 32-bit whole number; other numbers are truncated to it.
 * Source: Doty-Humphrey, "sfc32", PractRand 0.93, 2014; seeded through a 32-bit finaliser.
 */
export function seededRng(seed: number): Rng {
  return new Sfc32(seed | 0, mix(seed | 0), mix((seed ^ 0x9e3779b9) | 0));
}

class Sfc32 implements Rng {
  private a: number;
  private b: number;
  private c: number;
  private counter: number;
  private readonly root: number;

  constructor(a: number, b: number, c: number) {
    this.a = a;
    this.b = b;
    this.c = c;
    this.counter = 1;
    this.root = mix(a ^ mix(b ^ mix(c)));
    for (let i = 0; i < 12; i++) this.uint32();
  }

  next(): number {
    return this.uint32() / 4294967296;
  }

  below(bound: number): number {
    // Multiply-shift: for bounds up to a few thousand the bias is under one in a million.
    return ((this.uint32() / 4294967296) * bound) | 0;
  }

  split(purpose: string): Rng {
    let hash = this.root;
    for (let i = 0; i < purpose.length; i++) hash = mix(hash ^ purpose.charCodeAt(i));
    return new Sfc32(hash, mix(hash ^ 0x85ebca6b), mix(hash ^ 0xc2b2ae35));
  }

  private uint32(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}

function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return h ^ (h >>> 16);
}
