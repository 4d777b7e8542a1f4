import { checkOption } from "../core/errors.ts";
import { wilsonInterval } from "./confidence.ts";
import type { LatencyPair } from "./single-r.ts";

export interface CorrelationEstimate {
  /** r: chance that the second copy shares the cause of the first; in [0, 1]. */
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  /** Calls whose first copy was slow: what the estimate rests on. */
  readonly slowPrimaries: number;
  /** Of those, the calls whose second copy was slow too. */
  readonly bothSlow: number;
}

/**
 * How often slowness follows a call to another replica, from calls of which both copies ran to their end.
 *
 * P(backup slow | primary slow) = r + (1 - r) p, solved for r with p the share of slow backups; the interval is
 * Wilson's at 95 %, carried through. `undefined` when no first copy was slow.
 *
 * @param slowMs - a copy slower than this is slow.
 */
export function replicaCorrelation(
  pairs: readonly LatencyPair[],
  slowMs: number,
): CorrelationEstimate | undefined {
  checkOption({ slowMs }, "a number >= 0", slowMs >= 0);
  let slowPrimaries = 0;
  let bothSlow = 0;
  let slowBackups = 0;
  for (const { primaryMs, backupMs } of pairs) {
    if (backupMs > slowMs) slowBackups++;
    if (primaryMs <= slowMs) continue;
    slowPrimaries++;
    if (backupMs > slowMs) bothSlow++;
  }
  if (slowPrimaries === 0) return undefined;
  const base = slowBackups / pairs.length;
  const excess = (share: number): number =>
    base === 1 ? 0 : Math.min(1, Math.max(0, (share - base) / (1 - base)));
  const { low, high } = wilsonInterval(bothSlow, slowPrimaries);
  return {
    ratio: excess(bothSlow / slowPrimaries),
    low: excess(low),
    high: excess(high),
    slowPrimaries,
    bothSlow,
  };
}
