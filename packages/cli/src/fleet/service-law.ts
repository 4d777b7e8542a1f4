import type { Rng } from "bobtail/engine";
import { checkOption } from "bobtail/engine";

/** How long one request keeps a worker. */
export interface ServiceLaw {
  /** Mean of the exponential part of a healthy backend; ms above 0. */
  readonly meanMs: number;
  /** Multiplies the exponential part; above 0, 1 is healthy, 5 is five times slower. */
  readonly slowFactor: number;
  /** Absent: no request stalls. */
  readonly stall?: StallLaw | undefined;
}

/** A share of the requests takes longer by a uniform amount, as when a machine pauses. */
export interface StallLaw {
  /** In [0, 1]. */
  readonly shareRatio: number;
  /** ms >= 0. */
  readonly minMs: number;
  /** ms >= minMs. */
  readonly maxMs: number;
}

/** One service time. A request costs three numbers of the stream, stall or not, so that streams stay aligned. */
export function drawServiceMs(law: ServiceLaw, rng: Rng): number {
  const baseMs = -Math.log(1 - rng.next()) * law.meanMs * law.slowFactor;
  const lot = rng.next();
  const lengthRatio = rng.next();
  const { stall } = law;
  if (stall === undefined || lot >= stall.shareRatio) return baseMs;
  return baseMs + stall.minMs + lengthRatio * (stall.maxMs - stall.minMs);
}

/** Throws `ERR_BOBTAIL_OPTION` for the first number out of range. */
export function checkServiceLaw(law: ServiceLaw): void {
  const { meanMs, slowFactor, stall } = law;
  checkOption({ meanMs }, "milliseconds above 0", meanMs > 0 && Number.isFinite(meanMs));
  checkOption({ slowFactor }, "a number above 0", slowFactor > 0 && Number.isFinite(slowFactor));
  if (stall !== undefined) checkStall(stall, "stall");
}

/** Throws `ERR_BOBTAIL_OPTION` for the first number out of range, as a field of `owner`. */
export function checkStall({ shareRatio, minMs, maxMs }: StallLaw, owner: string): void {
  checkOption(
    { [`${owner}.shareRatio`]: shareRatio },
    "a ratio in [0, 1]",
    shareRatio >= 0 && shareRatio <= 1,
  );
  checkOption({ [`${owner}.minMs`]: minMs }, "milliseconds >= 0", minMs >= 0);
  checkOption(
    { [`${owner}.maxMs`]: maxMs },
    `milliseconds >= ${owner}.minMs (${minMs})`,
    maxMs >= minMs && Number.isFinite(maxMs),
  );
}

/** The law on a machine that is slower by a factor: every time is longer by it. */
export function stretchLaw(law: ServiceLaw, factor: number): ServiceLaw {
  const { meanMs, slowFactor, stall } = law;
  return {
    meanMs: meanMs * factor,
    slowFactor,
    stall:
      stall === undefined
        ? undefined
        : {
            shareRatio: stall.shareRatio,
            minMs: stall.minMs * factor,
            maxMs: stall.maxMs * factor,
          },
  };
}
