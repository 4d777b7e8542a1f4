import { checkOption } from "../core/errors.ts";
import type { Empirical } from "./empirical.ts";
import { budgetCriticalLoad, criticalLoad, loadWithHedges } from "./metastable.ts";

export interface LoadVerdict {
  readonly loadRatio: number;
  /** With the proposed hedges. */
  readonly resultingRatio: number;
  readonly maxLoadRatio: number;
  /** Load above which the budget's extra work is more than the fleet has. */
  readonly budgetCriticalRatio: number;
  /** Load above which the same delay without budget or cancellation collapses (exponential service); undefined for a delay of at most one mean service time. */
  readonly unguardedCriticalRatio: number | undefined;
  readonly isSafe: boolean;
  /** Why it is not, or what safety hangs on. */
  readonly reasons: readonly LoadReason[];
}

export type LoadReason =
  /** The load with hedges passes the limit. */
  | "above-limit"
  /** Less than a fifth of headroom to where the budget itself would saturate the fleet. */
  | "near-critical"
  /** Above 65 % load a budget alone makes the tail longer: queued losers must be cancelled. */
  | "needs-cancellation"
  /** Without its budget this delay would collapse at the present load. */
  | "needs-budget";

/** The load may rise by this factor before it comes to a critical one. */
const HEADROOM = 1.2;
/** Break-even of a 5 % budget without cancellation, 50 servers, exponential service, 6 seeds. */
const CANCEL_FROM_LOAD = 0.65;

interface LoadOptions {
  readonly latency: Empirical;
  readonly loadRatio?: number | undefined;
  readonly maxLoadRatio?: number | undefined;
  readonly cancelSavingRatio?: number | undefined;
  readonly budgetRatio?: number | undefined;
}

/** Whether a fleet at that load can bear the hedges; `undefined` when the load is not known. */
export function judgeLoad(
  options: LoadOptions,
  hedge: { readonly delayMs: number; readonly extraRatio: number },
): LoadVerdict | undefined {
  const { latency, loadRatio, maxLoadRatio = 0.8, cancelSavingRatio, budgetRatio = 0.05 } = options;
  if (loadRatio === undefined) return undefined;
  checkOption({ loadRatio }, "a ratio in [0, 1)", loadRatio >= 0 && loadRatio < 1);
  checkOption({ maxLoadRatio }, "a ratio in (0, 1)", maxLoadRatio > 0 && maxLoadRatio < 1);
  const { delayMs, extraRatio } = hedge;
  const resultingRatio = loadWithHedges({ loadRatio, extraRatio, cancelSavingRatio });
  const budgetCriticalRatio = budgetCriticalLoad(extraRatio > 0 ? budgetRatio : 0);
  // At that load a request takes 1 / (1 - r) mean service times in all, if one worker serves.
  const delay = delayMs / (latency.meanMs * (1 - loadRatio));
  const unguardedCriticalRatio =
    extraRatio > 0 && delay > 1 && delay < Number.POSITIVE_INFINITY
      ? criticalLoad({ delay })
      : undefined;

  const reasons: LoadReason[] = [];
  if (resultingRatio > maxLoadRatio) reasons.push("above-limit");
  if (extraRatio > 0) {
    if (budgetCriticalRatio < loadRatio * HEADROOM) reasons.push("near-critical");
    if (loadRatio > CANCEL_FROM_LOAD) reasons.push("needs-cancellation");
    if ((unguardedCriticalRatio ?? 0) < loadRatio * HEADROOM) reasons.push("needs-budget");
  }
  return {
    loadRatio,
    resultingRatio,
    maxLoadRatio,
    budgetCriticalRatio,
    unguardedCriticalRatio,
    isSafe: !reasons.includes("above-limit") && !reasons.includes("near-critical"),
    reasons,
  };
}
