import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRng } from "../core/rng.ts";
import { kaplanMeierBucket, type LatencyCounts } from "./kaplan-meier.ts";

function counts(answered: readonly number[], censored: readonly number[] = []): LatencyCounts {
  const size = 1 + [...answered, ...censored].reduce((a, b) => Math.max(a, b), -1);
  const made = {
    answered: new Uint32Array(size),
    censored: censored.length === 0 ? undefined : new Uint32Array(size),
    lowest: 0,
    highest: size - 1,
    total: answered.length + censored.length,
  };
  for (const bucket of answered) made.answered[bucket] = (made.answered[bucket] as number) + 1;
  for (const bucket of censored) {
    if (made.censored !== undefined) made.censored[bucket] = (made.censored[bucket] as number) + 1;
  }
  return made;
}

test("without censoring it is the plain quantile: rank ceil(q x n) of the sort", () => {
  const anyBuckets = fc.array(fc.nat(50), { minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(anyBuckets, fc.integer({ min: 0, max: 99 }), (buckets, percent) => {
      const rank = Math.max(1, Math.ceil((percent * buckets.length) / 100));
      const exact = [...buckets].sort((a, b) => a - b)[rank - 1];
      expect(kaplanMeierBucket(counts(buckets), 1 - percent / 100)).toBe(exact);
    }),
  );
});

test("of n different latencies the share k / n ends with the k-th, in spite of rounded products", () => {
  for (let n = 1; n <= 150; n++) {
    const different = counts(Array.from({ length: n }, (_, i) => i + 1));
    for (let k = 1; k <= n; k++) expect(kaplanMeierBucket(different, 1 - k / n)).toBe(k);
  }
});

test("the textbook case: 6 remission times of which some are cut off", () => {
  // Survival: 5/6 after 1; 5/6 x 3/4 = 0.625 after 3, where 2 was censored; x 1/2 = 0.3125 after 5, where 4 was.
  const remission = counts([1, 3, 5], [2, 4, 6]);
  expect(kaplanMeierBucket(remission, 0.84)).toBe(1);
  expect(kaplanMeierBucket(remission, 0.63)).toBe(3);
  expect(kaplanMeierBucket(remission, 0.62)).toBe(5);
  expect(kaplanMeierBucket(remission, 0.3125)).toBe(5);
  expect(kaplanMeierBucket(remission, 0.31)).toBe(-1);
});

test("what is censored in a bucket was still at risk of ending in it", () => {
  expect(kaplanMeierBucket(counts([1], [1]), 0.5)).toBe(1);
  expect(kaplanMeierBucket(counts([1], [0]), 0.5)).toBe(1);
  expect(kaplanMeierBucket(counts([1, 1], [1, 1, 1]), 0.5)).toBe(-1);
});

test("41: nothing recorded, or nothing answered, is not a quantile", () => {
  expect(kaplanMeierBucket(counts([]), 0.5)).toBe(-1);
  expect(kaplanMeierBucket(counts([], [3, 9]), 0.5)).toBe(-1);
});

test("random cut-offs do not move the estimate of what they hide", () => {
  const rng = seededRng(6);
  const answered: number[] = [];
  const censored: number[] = [];
  for (let i = 0; i < 200_000; i++) {
    const ends = Math.floor(-200 * Math.log(1 - rng.next()));
    const cut = Math.floor(600 * rng.next());
    if (ends <= cut) answered.push(ends);
    else censored.push(cut);
  }
  const all = counts(answered, censored);
  for (const survival of [0.9, 0.5, 0.1])
    expect(
      Math.abs(kaplanMeierBucket(all, survival) / (-200 * Math.log(survival)) - 1),
    ).toBeLessThan(0.05);
});
