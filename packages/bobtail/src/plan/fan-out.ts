import { checkOption } from "../core/errors.ts";
import { binomialAtLeast } from "./binomial.ts";
import { type LatencyLaw, latencyAtTail } from "./latency-law.ts";

/**
 * Share of requests that wait for at least one slow call: 1 - (1 - p)^N, with independent leaves.
 *
 * @param slowShare - of the calls to one leaf; in [0, 1].
 * @param fanOut - leaves that one request waits for; >= 0.
 * Source: Dean & Barroso, "The Tail at Scale", CACM 56(2), 2013.
 */
export function slowRequestShare(slowShare: number, fanOut: number): number {
  checkRatio({ slowShare });
  checkOption({ fanOut }, "a number >= 0", fanOut >= 0);
  if (fanOut === 0) return 0;
  return -Math.expm1(fanOut * Math.log1p(-slowShare));
}

/** Share of a leaf's calls that may be slow so that at most `tailRatio` of the requests are. */
export function leafTail(tailRatio: number, fanOut: number): number {
  checkRatio({ tailRatio });
  checkFanOut(fanOut);
  return -Math.expm1(Math.log1p(-tailRatio) / fanOut);
}

/**
 * The quantile that every leaf must meet so that the request meets `target` at the same latency: target^(1/N).
 *
 * @param target - quantile of the request; in [0, 1].
 * @param fanOut - leaves; >= 1.
 */
export function leafQuantile(target: number, fanOut: number): number {
  checkRatio({ target });
  checkFanOut(fanOut);
  return target ** (1 / fanOut);
}

/**
 * The largest fan-out of which at least the share `target` of the requests is fast; Infinity for leaves
 * that are never slow, 0 where not even one leaf meets it.
 *
 * @param slowShare - of the calls to one leaf: its survival function at the latency that is asked for.
 */
export function maxFanOut(slowShare: number, target: number): number {
  checkRatio({ slowShare });
  checkOption({ target }, "a quantile in (0, 1)", target > 0 && target < 1);
  if (slowShare === 0) return Number.POSITIVE_INFINITY;
  // 1 - 0.99^(1/2000) has lost five digits to the subtraction, and must give 2000 all the same.
  return Math.floor((Math.log(target) / Math.log1p(-slowShare)) * (1 + 1e-10));
}

/** The fan-out at which that quantile of a leaf is the median of the request: ln 2 / -ln q. 69 for the p99. */
export function medianFanOut(leafQuantileRatio: number): number {
  checkOption({ leafQuantileRatio }, "in (0, 1)", leafQuantileRatio > 0 && leafQuantileRatio < 1);
  return Math.log(2) / -Math.log(leafQuantileRatio);
}

/** A request that waits for all of `fanOut` leaves of one law. */
export function fanOutLaw(leaf: LatencyLaw, fanOut: number): LatencyLaw {
  checkFanOut(fanOut);
  return { survival: (tMs) => slowRequestShare(clampRatio(leaf.survival(tMs)), fanOut) };
}

/** A request that waits for all of several different leaves: 1 minus the product of their shares on time. */
export function slowestOf(leaves: readonly LatencyLaw[]): LatencyLaw {
  checkOption({ leaves: leaves.length }, "at least one leaf", leaves.length > 0);
  return {
    survival(tMs) {
      let logOnTime = 0;
      for (const leaf of leaves) logOnTime += Math.log1p(-clampRatio(leaf.survival(tMs)));
      return -Math.expm1(logOnTime);
    },
  };
}

/**
 * A request that waits for the first `enough` of `fanOut` leaves: late when fewer than `enough` are on time.
 *
 * For "95 % of the leaves" `enough` is ceil(0.95 N); for a quorum it is the quorum.
 */
export function enoughOfLaw(
  leaf: LatencyLaw,
  { fanOut, enough }: { readonly fanOut: number; readonly enough: number },
): LatencyLaw {
  checkFanOut(fanOut);
  const ok = Number.isInteger(enough) && enough >= 1 && enough <= fanOut;
  checkOption({ enough }, `a whole number in [1, ${fanOut}]`, ok);
  return {
    // Late: at least fanOut - enough + 1 of them are late.
    survival: (tMs) =>
      binomialAtLeast(fanOut - enough + 1, {
        trials: fanOut,
        ratio: clampRatio(leaf.survival(tMs)),
      }),
  };
}

/** The fastest of several copies that were all sent at once, with independent latencies. */
export function fastestOf(copies: readonly LatencyLaw[]): LatencyLaw {
  checkOption({ copies: copies.length }, "at least one copy", copies.length > 0);
  return { survival: (tMs) => copies.reduce((product, copy) => product * copy.survival(tMs), 1) };
}

/** The quantile of the slowest of `fanOut` leaves, ms. */
export function fanOutQuantile(
  leaf: LatencyLaw,
  { fanOut, quantile }: { readonly fanOut: number; readonly quantile: number },
): number {
  return latencyAtTail(leaf, leafTail(1 - quantile, fanOut));
}

/** Rounding may leave a difference of sums a hair outside [0, 1]. */
export function clampRatio(ratio: number): number {
  return Math.min(1, Math.max(0, ratio));
}

export function checkFanOut(fanOut: number): void {
  checkOption({ fanOut }, "a whole number >= 1", Number.isSafeInteger(fanOut) && fanOut >= 1);
}

function checkRatio(option: Readonly<Record<string, number>>): void {
  const value = Object.values(option)[0] as number;
  checkOption(option, "a ratio in [0, 1]", value >= 0 && value <= 1);
}
