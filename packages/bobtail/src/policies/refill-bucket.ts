/** Whole micro-tokens: ten deposits of 0.1 must buy exactly one attempt, which doubles do not promise. */
export const MICRO = 1_000_000;

export interface RefillBucketOptions {
  /** Whole tokens it holds at most, and holds at first. */
  readonly capacityCount: number;
  /** Tokens that time alone adds; 0: none. */
  readonly perSecond: number;
}

/**
 * A token bucket that is refilled at a true rate: what it gives out is at most its capacity, what was
 * added, and the rate times the time that passed. Any silence costs one step. Reading changes nothing.
 */
export class RefillBucket {
  private readonly capacityMicro: number;
  private readonly microPerMs: number;
  private balanceMicro: number;
  /** Time is measured from here, and what it has brought since is remembered, so that rounding never adds up. */
  private anchorMs: number;
  private broughtMicro: number;

  constructor(options: RefillBucketOptions, nowMs: number) {
    this.capacityMicro = options.capacityCount * MICRO;
    this.microPerMs = options.perSecond * (MICRO / 1000);
    this.balanceMicro = this.capacityMicro;
    this.anchorMs = nowMs;
    this.broughtMicro = 0;
  }

  balanceMicroAt(nowMs: number): number {
    if (this.microPerMs === 0) return this.balanceMicro;
    return Math.min(this.capacityMicro, this.balanceMicro + this.dueMicro(nowMs));
  }

  add(micro: number, nowMs: number): void {
    if (this.microPerMs > 0) this.refill(nowMs);
    this.putBack(micro);
  }

  /** Refused: nothing is taken. */
  tryTake(micro: number, nowMs: number): boolean {
    if (this.microPerMs > 0) this.refill(nowMs);
    if (this.balanceMicro < micro) return false;
    this.balanceMicro -= micro;
    return true;
  }

  putBack(micro: number): void {
    this.balanceMicro = Math.min(this.capacityMicro, this.balanceMicro + micro);
  }

  private refill(nowMs: number): void {
    const dueMicro = this.dueMicro(nowMs);
    if (this.balanceMicro + dueMicro >= this.capacityMicro) {
      // What a full bucket cannot hold is lost, or it would come back as a burst.
      this.balanceMicro = this.capacityMicro;
      this.anchorMs = Math.max(this.anchorMs, nowMs);
      this.broughtMicro = 0;
    } else {
      this.balanceMicro += dueMicro;
      this.broughtMicro += dueMicro;
    }
  }

  private dueMicro(nowMs: number): number {
    const broughtMicro = Math.floor((nowMs - this.anchorMs) * this.microPerMs);
    return Math.max(0, broughtMicro - this.broughtMicro);
  }
}
