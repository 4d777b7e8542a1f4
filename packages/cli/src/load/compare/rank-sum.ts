import { checkOption } from "bobtail/engine";

/** Of one side: what is exact stays quick. */
export const MAX_RUNS = 100;

/**
 * The p-value of the Mann-Whitney test by its permutation distribution: exact with ties too, which share their mean rank, and with
 * infinite values, which rank last. In (0, 1].
 *
 * Two-sided: how often a rank sum is as far from its mean as the one seen, when labels are dealt at random. NaN values throw
 * `ERR_BOBTAIL_OPTION`, as do samples that are empty or larger than {@link MAX_RUNS}.
 * Source: Mann & Whitney, Ann. Math. Statist. 18, 1947; Streitberg & Röhmel, Comput. Stat. Q. 1, 1986.
 */
export function rankSumPValue(a: readonly number[], b: readonly number[]): number {
  checkSample(a);
  checkSample(b);
  const ranks = doubledMidranks([...a, ...b]);
  const seen = ranks.slice(a.length).reduce((sum, rank) => sum + rank, 0);
  const mean = b.length * (ranks.length + 1);
  const ways = rankSumWays(ranks, b.length);
  let asFar = 0;
  let all = 0;
  for (const [sum, count] of ways.entries()) {
    all += count;
    if (Math.abs(sum - mean) >= Math.abs(seen - mean)) asFar += count;
  }
  return Math.min(1, asFar / all);
}

/**
 * How many of the ordered differences between two samples may be left out at either end, so that the rest holds the true shift with
 * chance 1 - `missRatio`: the largest k with P(U < k) <= missRatio / 2. 0: no interval is so sure with so few values.
 */
export function leftOutDifferences(sizeA: number, sizeB: number, missRatio: number): number {
  const ways = rankSumWays(
    Array.from({ length: sizeA + sizeB }, (_, i) => 2 * (i + 1)),
    sizeB,
  );
  const all = ways.reduce((sum, count) => sum + count, 0);
  const least = sizeB * (sizeB + 1);
  let below = 0;
  for (let k = 0; k <= sizeA * sizeB; k++) {
    below += ways[least + 2 * k] as number;
    if (below / all > (missRatio / 2) * (1 + 1e-12)) return k;
  }
  return sizeA * sizeB;
}

/** The smallest p-value that so many values can have: 2 of all ways to deal the labels. 4 + 4: 0.029; 5 + 5: 0.008. */
export function leastPValue(sizeA: number, sizeB: number): number {
  let ways = 1;
  for (let i = 1; i <= sizeB; i++) ways *= (sizeA + i) / i;
  return Math.min(1, 2 / ways);
}

/** Fewest values a side of which one in a family of `familySize` tests can reach `level` after correction: 4, 5 from 2 on. */
export function fewestRuns(familySize: number, level: number): number {
  let size = 1;
  while (leastPValue(size, size) * familySize > level) size++;
  return size;
}

/** Twice the rank, so that ties, which share the mean of theirs, have whole ones. */
function doubledMidranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i);
  order.sort((i, j) => compare(values[i] as number, values[j] as number));
  const ranks = values.map(() => 0);
  for (let from = 0; from < order.length; ) {
    const value = values[order[from] as number];
    let to = from;
    while (to < order.length && values[order[to] as number] === value) to++;
    for (const i of order.slice(from, to)) ranks[i] = from + to + 1;
    from = to;
  }
  return ranks;
}

/** Subtraction would make NaN of two infinite ones. */
function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** At each sum: the subsets of `size` ranks that add up to it. Only sums of positive counts, so precise to the last digits. */
function rankSumWays(ranks: readonly number[], size: number): Float64Array {
  const sums = [...ranks].sort((a, b) => b - a).slice(0, size);
  const width = sums.reduce((sum, rank) => sum + rank, 0) + 1;
  const ways = Array.from({ length: size + 1 }, () => new Float64Array(width));
  (ways[0] as Float64Array)[0] = 1;
  let reach = 0;
  for (const [taken, rank] of ranks.entries()) {
    reach = Math.min(width - 1, reach + rank);
    // Subsets that could not be filled any more are not counted on.
    const fewest = Math.max(1, size - (ranks.length - taken - 1));
    for (let k = Math.min(size, taken + 1); k >= fewest; k--) {
      const [into, from] = [ways[k] as Float64Array, ways[k - 1] as Float64Array];
      for (let sum = rank; sum <= reach; sum++)
        into[sum] = (into[sum] as number) + (from[sum - rank] as number);
    }
  }
  return ways[size] as Float64Array;
}

function checkSample(values: readonly number[]): void {
  checkOption(
    { values: values.length },
    `1 to ${MAX_RUNS} numbers`,
    values.length >= 1 && values.length <= MAX_RUNS && !values.some(Number.isNaN),
  );
}
