import { checkOption } from "../core/errors.ts";
import { clampRatio, slowRequestShare } from "./fan-out.ts";
import type { LatencyLaw } from "./latency-law.ts";

export interface HedgeShape {
  /** When the second copy is sent, after the first; ms, >= 0. Infinity: never. */
  readonly delayMs: number;
  /** Chance that a call which is due gets its copy; in [0, 1], default 1. */
  readonly probability?: number | undefined;
  /** Law of the copy's own latency; default the primary's. */
  readonly backup?: LatencyLaw | undefined;
  /** Chance that the copy meets what the primary met, and is no faster; in [0, 1], default 0. */
  readonly replicaCorrelation?: number | undefined;
}

/**
 * A call that sends a second copy after a delay and takes the first answer.
 *
 * P(T > t) = S(t) up to the delay, then S(t) (1 - q (1 - r) F(t - d)). With q = 1 and r = 0 that is S(t) S(t - d).
 * Throws `ERR_BOBTAIL_OPTION` for a shape out of range.
 */
export function hedgedLaw(primary: LatencyLaw, shape: HedgeShape): LatencyLaw {
  const { delayMs, probability = 1, backup = primary, replicaCorrelation = 0 } = shape;
  checkOption({ delayMs }, "a number >= 0", delayMs >= 0);
  checkRatioOption({ probability });
  checkRatioOption({ replicaCorrelation });
  const helps = probability * (1 - replicaCorrelation);
  return {
    survival(tMs) {
      const slow = primary.survival(tMs);
      if (tMs <= delayMs) return slow;
      const copySlow = backup.survival(tMs - delayMs);
      return slow * (1 - helps * (1 - copySlow));
    },
  };
}

/** Hedges per call: the chance that a call outlives the delay, times the chance that it then gets a copy. */
export function hedgesPerCall(primary: LatencyLaw, shape: HedgeShape): number {
  return (
    (shape.probability ?? 1) *
    (shape.delayMs === Number.POSITIVE_INFINITY ? 0 : primary.survival(shape.delayMs))
  );
}

/**
 * Chance that both copies are slow: p (r + (1 - r) p).
 *
 * @param slowShare - p: of one copy alone.
 * @param replicaCorrelation - r: chance that the second copy shares the cause of the first.
 */
export function bothSlowShare(slowShare: number, replicaCorrelation: number): number {
  checkRatioOption({ slowShare });
  checkRatioOption({ replicaCorrelation });
  return slowShare * (replicaCorrelation + (1 - replicaCorrelation) * slowShare);
}

export interface CommonShock {
  /** Chance that one call is slow, for whatever cause; in [0, 1]. */
  readonly slowShare: number;
  /** Chance that a request meets a shock that slows all its leaves; in [0, slowShare]. */
  readonly shockShare: number;
  /** Leaves; >= 0. */
  readonly fanOut: number;
}

/**
 * Share of slow requests when part of the slowness hits all leaves at once: 1 - (1 - p_c)(1 - p_i)^N.
 *
 * For a fixed share of slow calls this is less than with independent leaves: slow calls gather in few requests.
 */
export function commonShockShare(shock: CommonShock): number {
  const { shockShare, fanOut } = shock;
  const ownShare = ownSlowShare(shock);
  return 1 - (1 - shockShare) * (1 - slowRequestShare(ownShare, fanOut));
}

/** The same after an ideal hedge, which squares a leaf's own slowness and cannot mend the shock. */
export function hedgedCommonShockShare(shock: CommonShock): number {
  const { shockShare, fanOut } = shock;
  const ownShare = ownSlowShare(shock);
  return 1 - (1 - shockShare) * (1 - slowRequestShare(ownShare * ownShare, fanOut));
}

/** p_i with p = 1 - (1 - p_c)(1 - p_i). */
function ownSlowShare({ slowShare, shockShare }: CommonShock): number {
  checkRatioOption({ slowShare });
  checkOption({ shockShare }, `in [0, ${slowShare}]`, shockShare >= 0 && shockShare <= slowShare);
  return shockShare === 1 ? 0 : clampRatio(1 - (1 - slowShare) / (1 - shockShare));
}

export interface FanOutHedge extends HedgeShape {
  /** Leaves that a request waits for; a whole number >= 1. */
  readonly fanOut: number;
  /** Share of a leaf's slowness that strikes all leaves of a request at once; in [0, 1], default 0. */
  readonly leafCorrelation?: number | undefined;
}

/**
 * A request that waits for all of its hedged leaves, under both correlations.
 *
 * The part of the slowness that all leaves share is not mended by hedges; the rest is each leaf's own.
 */
export function hedgedRequestLaw(primary: LatencyLaw, hedge: FanOutHedge): LatencyLaw {
  const { fanOut, leafCorrelation = 0 } = hedge;
  checkRatioOption({ leafCorrelation });
  const leaf = hedgedLaw(primary, hedge);
  return {
    survival(tMs) {
      const slowShare = clampRatio(primary.survival(tMs));
      const hedgedShare = clampRatio(leaf.survival(tMs));
      if (leafCorrelation === 0) return slowRequestShare(hedgedShare, fanOut);
      const shockShare = leafCorrelation * slowShare;
      const ownShare = ownSlowShare({ slowShare, shockShare, fanOut });
      const mended = slowShare === 0 ? 0 : ownShare * (hedgedShare / slowShare);
      return 1 - (1 - shockShare) * (1 - slowRequestShare(mended, fanOut));
    },
  };
}

function checkRatioOption(option: Readonly<Record<string, number>>): void {
  const value = Object.values(option)[0] as number;
  checkOption(option, "a ratio in [0, 1]", value >= 0 && value <= 1);
}
