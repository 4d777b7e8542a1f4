import { normalTail } from "bobtail/plan";

/** Rising pairs less falling ones, and how much that varies where there is no trend. */
export interface TrendScore {
  readonly score: number;
  readonly variance: number;
}

/**
 * Kendall's score of values in their order; ties count for neither and take from the variance.
 *
 * Source: Mann, "Nonparametric tests against trend", Econometrica 13, 1945; Kendall, "Rank Correlation Methods", 4th ed., 1975.
 */
export function kendallScore(values: readonly number[]): TrendScore {
  const count = values.length;
  const ties = new Map<number, number>();
  let score = 0;
  for (const [i, value] of values.entries()) {
    ties.set(value, (ties.get(value) ?? 0) + 1);
    for (const before of values.slice(0, i))
      score += Number(value > before) - Number(value < before);
  }
  const term = (n: number): number => n * (n - 1) * (2 * n + 5);
  const tied = [...ties.values()].reduce((sum, n) => sum + term(n), 0);
  return { score, variance: (term(count) - tied) / 18 };
}

/**
 * Two-sided p-value of a trend that several series share, each with its own level.
 *
 * By the normal law, with its correction for whole numbers; fair from about eight values a series.
 * Source: Hirsch, Slack & Smith, "Techniques of trend analysis for monthly water quality data", Water Resour. Res. 18, 1982.
 */
export function trendPValue(series: readonly TrendScore[]): number {
  const score = series.reduce((sum, one) => sum + one.score, 0);
  const variance = series.reduce((sum, one) => sum + one.variance, 0);
  if (score === 0 || variance === 0) return 1;
  return Math.min(1, 2 * normalTail((Math.abs(score) - 1) / Math.sqrt(variance)));
}
