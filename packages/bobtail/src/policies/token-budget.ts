import { checkOption } from "../core/errors.ts";
import type { AttemptKind } from "./attempt.ts";
import type { Budget } from "./budget.ts";
import { FailureBrake } from "./failure-brake.ts";
import type { BudgetOptions } from "./options.ts";
import { MICRO, RefillBucket } from "./refill-bucket.ts";

const DEFAULT_EXTRA_RATIO = 0.1;
const DEFAULT_BURST_COUNT = 10;
/** What the ceiling lets through at one moment, in seconds of its rate. */
const CEILING_BURST_SECONDS = 0.1;

/**
 * Caps the extra attempts of a service, so that hedges and retries cannot feed an overload.
 *
 * One bucket for both: each successful call deposits `extraRatio`, an extra attempt costs one. In any
 * order of events, extra attempts <= burstCount + extraRatio x successes + minPerSecond x seconds, and
 * <= maxPerSecond x seconds + the ceiling's own burst (a tenth of a second of it, at least one, at most
 * `burstCount`). Deposits come from successes only: calls that fail must not pay for more load.
 * Beside it, the {@link FailureBrake}. Throws `ERR_BOBTAIL_OPTION` for an option out of range.
 */
export function createTokenBudget(options: BudgetOptions, nowMs: number): Budget {
  const extraRatio = checkExtraRatio(options.extraRatio);
  const { burstCount = DEFAULT_BURST_COUNT, minPerSecond = 0 } = options;
  const { maxPerSecond = Number.POSITIVE_INFINITY } = options;
  checkOption(
    { "budget.burstCount": burstCount },
    "a whole number in [1, 10000]",
    Number.isInteger(burstCount) && burstCount >= 1 && burstCount <= 10_000,
  );
  checkOption(
    { "budget.minPerSecond": minPerSecond },
    "a rate in [0, 1000] a second",
    minPerSecond >= 0 && minPerSecond <= 1000,
  );
  checkOption({ "budget.maxPerSecond": maxPerSecond }, "a rate above 0", maxPerSecond > 0);
  checkOption(
    { "budget.maxPerSecond": maxPerSecond },
    `at least budget.minPerSecond, which is ${minPerSecond}`,
    maxPerSecond >= minPerSecond,
  );
  return new TokenBudget({ extraRatio, burstCount, minPerSecond, maxPerSecond }, nowMs);
}

/** The ratio or its default, 0.1. Throws `ERR_BOBTAIL_OPTION` outside [0, 2]. */
export function checkExtraRatio(extraRatio: number = DEFAULT_EXTRA_RATIO): number {
  checkOption(
    { "budget.extraRatio": extraRatio },
    "a ratio in [0, 2]",
    extraRatio >= 0 && extraRatio <= 2,
  );
  return extraRatio;
}

type CheckedOptions = { readonly [K in keyof BudgetOptions]-?: NonNullable<BudgetOptions[K]> };

class TokenBudget implements Budget {
  readonly capacityCount: number;
  private readonly depositMicro: number;
  /** A hedge needs this much in the bucket: its own price, and the last quarter, which is the retries'. */
  private readonly hedgeNeedsMicro: number;
  private readonly earned: RefillBucket;
  private readonly ceiling: RefillBucket | undefined;
  private readonly brake: FailureBrake;

  constructor(options: CheckedOptions, nowMs: number) {
    const { burstCount, minPerSecond, maxPerSecond } = options;
    this.capacityCount = burstCount;
    this.depositMicro = Math.round(options.extraRatio * MICRO);
    // A quarter of 1, 2 or 3 is no whole attempt: so small a burst is open to hedges entirely.
    this.hedgeNeedsMicro = MICRO + Math.floor(burstCount / 4) * MICRO;
    this.earned = new RefillBucket({ capacityCount: burstCount, perSecond: minPerSecond }, nowMs);
    const atOnce = Math.floor(maxPerSecond * CEILING_BURST_SECONDS);
    const capacityCount = Math.max(1, Math.min(burstCount, atOnce));
    this.ceiling =
      maxPerSecond === Number.POSITIVE_INFINITY
        ? undefined
        : new RefillBucket({ capacityCount, perSecond: maxPerSecond }, nowMs);
    this.brake = new FailureBrake();
  }

  deposit(nowMs: number): void {
    this.earned.add(this.depositMicro, nowMs);
    this.brake.success();
  }

  failure(_nowMs: number): void {
    this.brake.failure();
  }

  tryWithdraw(kind: AttemptKind, nowMs: number): boolean {
    const neededMicro = kind === "hedge" ? this.hedgeNeedsMicro : MICRO;
    if (this.brake.on || this.earned.balanceMicroAt(nowMs) < neededMicro) return false;
    if (this.ceiling !== undefined && !this.ceiling.tryTake(MICRO, nowMs)) return false;
    this.earned.tryTake(MICRO, nowMs);
    return true;
  }

  /** Without a withdrawal to undo the bucket is full, and nothing happens. */
  refund(): void {
    this.earned.putBack(MICRO);
    this.ceiling?.putBack(MICRO);
  }

  /** Whole attempts, as a retry could take them; 0 while the brake is on. */
  balanceAt(nowMs: number): number {
    if (this.brake.on) return 0;
    const earnedMicro = this.earned.balanceMicroAt(nowMs);
    const allowedMicro = this.ceiling?.balanceMicroAt(nowMs) ?? earnedMicro;
    return Math.floor(Math.min(earnedMicro, allowedMicro) / MICRO);
  }
}
