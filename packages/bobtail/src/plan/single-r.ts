import { checkOption } from "../core/errors.ts";
import type { Empirical } from "./empirical.ts";

/** When and how often to send a second copy, and what that buys. */
export interface ReissuePolicy {
  /** ms; Infinity: no reissue at all. */
  readonly delayMs: number;
  /** Chance that a call which is due gets its copy. */
  readonly probability: number;
  /** Second copies per call. */
  readonly extraRatio: number;
  /** The latency that the asked share of the calls then meets, ms. */
  readonly latencyMs: number;
}

export interface ReissueSearch {
  /** Latency of a first copy, left alone. */
  readonly primary: Empirical;
  /** Latency of a second copy, from when it is sent; default that of the first. */
  readonly backup?: Empirical | undefined;
  /** The share of calls whose latency is made as short as can be; in (0, 1). */
  readonly quantile: number;
  /** Second copies per call, at most; in [0, 1]. */
  readonly budgetRatio: number;
  /** Chance that a second copy is no faster than the first; in [0, 1], default 0. */
  readonly replicaCorrelation?: number | undefined;
}

/**
 * The one delay with a coin that makes a quantile shortest within a budget.
 *
 * O(n log n) for n distinct latencies: a bisection over the latency, each step one sweep over the delays.
 * Never worse than {@link singleD}, which is never worse than no reissue.
 * Source: Kaler, He & Elnikety, "Optimal Reissue Policies for Reducing Tail Latency", SPAA 2017.
 */
export function singleR(search: ReissueSearch): ReissuePolicy {
  return searchIndependent(search, true);
}

/** The best delay alone, within the budget: every call that outlives it gets a copy. */
export function singleD(search: ReissueSearch): ReissuePolicy {
  return searchIndependent(search, false);
}

function searchIndependent(search: ReissueSearch, withCoin: boolean): ReissuePolicy {
  const { primary, backup = primary, replicaCorrelation = 0 } = search;
  checkSearch(search);
  checkOption(
    { replicaCorrelation },
    "in [0, 1]",
    replicaCorrelation >= 0 && replicaCorrelation <= 1,
  );
  const helps = 1 - replicaCorrelation;
  const copies = backup.valuesMs;

  const bestAt = (tMs: number, slow: number): Choice => {
    const best = noReissue(slow);
    // As the delay grows the copy has less time left: one pointer walks down the copies' latencies.
    let inTime = copies.length - 1;
    for (const { delayMs, dueRatio } of delaysUpTo(primary, tMs)) {
      const probability = coin(dueRatio, search.budgetRatio, withCoin);
      if (probability === 0) continue;
      while (inTime >= 0 && (copies[inTime] as number) > tMs - delayMs) inTime--;
      if (inTime < 0) break;
      const answered = (backup.cumulative[inTime] as number) / backup.totalWeight;
      better(best, slow * (1 - probability * helps * answered), { delayMs, dueRatio, probability });
    }
    return best;
  };
  return shortest(search, bestAt);
}

/** A call of which both copies were sent at once and both latencies recorded: what correlated replicas need. */
export interface LatencyPair {
  readonly primaryMs: number;
  readonly backupMs: number;
}

export interface PairedSearch extends Pick<ReissueSearch, "primary" | "quantile" | "budgetRatio"> {
  /** From unconditional duplicates, for example a shadow of 0.5 % of the traffic; at least one. */
  readonly pairs: readonly LatencyPair[];
  /** With a coin (SingleR, default) or without (SingleD). */
  readonly withCoin?: boolean | undefined;
}

/**
 * SingleR (or SingleD) where the copies' latencies depend on each other: the joint law is counted in pairs.
 *
 * The budget and the share due come from `primary`, which has more samples than there are pairs. O(n log n).
 */
export function singleRFromPairs(search: PairedSearch): ReissuePolicy {
  const { primary, pairs, withCoin = true } = search;
  checkSearch(search);
  checkOption({ pairs: pairs.length }, "at least one pair", pairs.length > 0);
  const byBackup = [...pairs].sort((a, b) => a.backupMs - b.backupMs);
  const late: Float64Array = new Float64Array(byBackup.length);

  const bestAt = (tMs: number, slow: number): Choice => {
    const best = noReissue(slow);
    let lateCount = 0;
    for (const pair of byBackup) if (pair.primaryMs > tMs) late[lateCount++] = pair.backupMs;
    if (lateCount === 0) return best;
    let inTime = lateCount;
    for (const { delayMs, dueRatio } of delaysUpTo(primary, tMs)) {
      const probability = coin(dueRatio, search.budgetRatio, withCoin);
      if (probability === 0) continue;
      while (inTime > 0 && (late[inTime - 1] as number) > tMs - delayMs) inTime--;
      if (inTime === 0) break;
      const mended = probability * (inTime / lateCount);
      better(best, slow * (1 - mended), { delayMs, dueRatio, probability });
    }
    return best;
  };
  return shortest(search, bestAt);
}

interface Choice {
  /** Share of calls that are still slower than the latency in question. */
  slow: number;
  delayMs: number;
  dueRatio: number;
  probability: number;
}

interface Delay {
  delayMs: number;
  dueRatio: number;
}

function noReissue(slow: number): Choice {
  return { slow, delayMs: Number.POSITIVE_INFINITY, dueRatio: 0, probability: 0 };
}

function better(best: Choice, slow: number, candidate: Omit<Choice, "slow">): void {
  if (slow >= best.slow) return;
  best.slow = slow;
  best.delayMs = candidate.delayMs;
  best.dueRatio = candidate.dueRatio;
  best.probability = candidate.probability;
}

function coin(dueRatio: number, budgetRatio: number, withCoin: boolean): number {
  // Shares are differences of rounded sums: 1 - 0.95 is to fit a budget of 0.05.
  if (dueRatio <= budgetRatio * (1 + 1e-12) + 1e-15) return 1;
  return withCoin ? budgetRatio / dueRatio : 0;
}

/** At once, and at each measured latency: between two of them the same calls are due, only later. */
function* delaysUpTo(primary: Empirical, tMs: number): Generator<Delay> {
  const { valuesMs, cumulative, totalWeight } = primary;
  const delay: Delay = { delayMs: 0, dueRatio: 1 };
  yield delay;
  for (let i = 0; i < valuesMs.length && (valuesMs[i] as number) <= tMs; i++) {
    delay.delayMs = valuesMs[i] as number;
    delay.dueRatio = (totalWeight - (cumulative[i] as number)) / totalWeight;
    yield delay;
  }
}

/** The smallest latency at which the best choice leaves at most 1 - quantile of the calls slower. */
function shortest(
  { primary, quantile }: Pick<ReissueSearch, "primary" | "quantile">,
  bestAt: (tMs: number, slow: number) => Choice,
): ReissuePolicy {
  const { valuesMs } = primary;
  const allowed = (1 - quantile) * (1 + 1e-12) + 1e-15;
  const choiceAt = (tMs: number): Choice => bestAt(tMs, primary.survival(tMs));
  let below = -1;
  let enough = valuesMs.length;
  while (enough - below > 1) {
    const middle = (below + enough) >> 1;
    if (choiceAt(valuesMs[middle] as number).slow <= allowed) enough = middle;
    else below = middle;
  }
  // A longer latency than any measured is no promise.
  if (enough === valuesMs.length) {
    return { ...noPolicy(), latencyMs: Number.POSITIVE_INFINITY };
  }
  let low = below < 0 ? 0 : (valuesMs[below] as number);
  let high = valuesMs[enough] as number;
  // Between two measured latencies a copy may still arrive. The same brackets for every search keep their order.
  for (let step = 0; step < REFINING_STEPS; step++) {
    const middle = (low + high) / 2;
    if (choiceAt(middle).slow <= allowed) high = middle;
    else low = middle;
  }
  const choice = choiceAt(high);
  if (choice.probability === 0) return { ...noPolicy(), latencyMs: high };
  return {
    delayMs: choice.delayMs,
    probability: choice.probability,
    extraRatio: choice.probability * choice.dueRatio,
    latencyMs: high,
  };
}

const REFINING_STEPS = 30;

function noPolicy(): Omit<ReissuePolicy, "latencyMs"> {
  return { delayMs: Number.POSITIVE_INFINITY, probability: 0, extraRatio: 0 };
}

function checkSearch({ quantile, budgetRatio }: Omit<PairedSearch, "pairs">): void {
  checkOption({ quantile }, "a quantile in (0, 1)", quantile > 0 && quantile < 1);
  checkOption({ budgetRatio }, "a ratio in [0, 1]", budgetRatio >= 0 && budgetRatio <= 1);
}

/**
 * SingleR in closed form for copies that are independent and exponential with mean 1: at the best, the copy has
 * ln 2 left. Delay, latency in mean latencies.
 *
 * Where the coin would have to fall more often than always, or before the call began, the policy is SingleD.
 */
export function exponentialSingleR(
  quantile: number,
  budgetRatio: number,
): { delay: number; probability: number; latency: number } {
  checkOption({ quantile }, "a quantile in (0, 1)", quantile > 0 && quantile < 1);
  checkOption({ budgetRatio }, "a ratio in (0, 1]", budgetRatio > 0 && budgetRatio <= 1);
  const latency = -Math.log(1 - quantile + budgetRatio / 4);
  const delay = latency - Math.LN2;
  const probability = budgetRatio * Math.exp(delay);
  if (delay >= 0 && probability <= 1) return { delay, probability, latency };
  if (delay < 0) return earliest(quantile, budgetRatio);
  return exponentialSingleD(quantile, budgetRatio);
}

/** At once, for a share: 1 - k = e^-t (1 - q (1 - e^-t)), a quadratic in e^-t. */
function earliest(
  quantile: number,
  probability: number,
): { delay: number; probability: number; latency: number } {
  const tail = 1 - quantile;
  const a = probability;
  const b = 1 - probability;
  const x = (2 * tail) / (b + Math.sqrt(b * b + 4 * a * tail));
  return { delay: 0, probability, latency: -Math.log(x) };
}

/** The percentile hedge for the same copies: delay -ln B, then S(t) S(t - d) = 1 - k. */
export function exponentialSingleD(
  quantile: number,
  budgetRatio: number,
): { delay: number; probability: number; latency: number } {
  const delay = -Math.log(budgetRatio);
  const alone = -Math.log(1 - quantile);
  if (alone <= delay) return { delay, probability: 1, latency: alone };
  return { delay, probability: 1, latency: (alone + delay) / 2 };
}
