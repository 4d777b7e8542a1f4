import fc from "fast-check";
import { expect, test } from "vitest";
import { type Rng, seededRng } from "./rng.ts";

function draw(rng: Rng, count: number): number[] {
  return Array.from({ length: count }, () => rng.next());
}

test("the same seed gives the same stream, in every run", () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      expect(draw(seededRng(seed), 50)).toEqual(draw(seededRng(seed), 50));
    }),
  );
});

test("streams stay as they are from release to release: recorded seeds replay", () => {
  const rng = seededRng(1);
  const drawn = [rng.below(1e6), rng.below(1e6), rng.below(1e6), rng.split("arrivals").below(1e6)];
  expect(drawn).toEqual([434_238, 62_929, 983_212, 137_646]);
});

test("a thousand neighbouring seeds give a thousand different streams", () => {
  const firsts = new Set(
    Array.from({ length: 1000 }, (_, seed) => draw(seededRng(seed), 2).join()),
  );
  expect(firsts.size).toBe(1000);
});

test("numbers are uniform in [0, 1)", () => {
  const numbers = draw(seededRng(7), 200_000);
  const bins = new Array(20).fill(0);
  for (const x of numbers) bins[Math.floor(x * 20)]++;
  // Chi-square with 19 degrees of freedom exceeds 43.8 once in a thousand seeds.
  const chiSquare = bins.reduce((sum, n) => sum + (n - 10_000) ** 2 / 10_000, 0);
  expect(chiSquare).toBeLessThan(43.8);
});

test("one number says nothing of the next", () => {
  const numbers = draw(seededRng(11), 100_000);
  let product = 0;
  for (let i = 1; i < numbers.length; i++)
    product += ((numbers[i] as number) - 0.5) * ((numbers[i - 1] as number) - 0.5);
  // The correlation's standard deviation is 1 / sqrt(n); four of them.
  expect(Math.abs((product / numbers.length) * 12)).toBeLessThan(4 / Math.sqrt(100_000));
});

test("below(bound) reaches every whole number under the bound and no other", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer(), (bound, seed) => {
      const rng = seededRng(seed);
      const seen = new Set(Array.from({ length: bound * 40 }, () => rng.below(bound)));
      expect([...seen].every((n) => Number.isInteger(n) && n >= 0 && n < bound)).toBe(true);
      expect(seen.size).toBeGreaterThan(bound * 0.9);
    }),
  );
});

test("below(bound) is the whole part of the bound's share, up to a bound of 2^31", () => {
  const anyBound = fc.oneof(
    fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    fc.nat(31).map((power) => 2 ** power),
    fc.integer({ min: 1, max: 31 }).map((power) => 2 ** power - 1),
  );
  fc.assert(
    fc.property(anyBound, fc.integer(), (bound, seed) => {
      const rng = seededRng(seed);
      const twin = seededRng(seed);
      for (let i = 0; i < 50; i++) {
        const drawn = rng.below(bound);
        expect(drawn).toBe(Math.floor(twin.next() * bound));
        expect(drawn).toBeGreaterThanOrEqual(0);
        expect(drawn).toBeLessThan(bound);
      }
    }),
  );
});

test("a split stream depends on its purpose and its parent's seed, not on what was drawn before", () => {
  const parent = seededRng(5);
  const early = draw(parent.split("arrivals"), 20);
  draw(parent, 1000);
  expect(draw(parent.split("arrivals"), 20)).toEqual(early);
  expect(draw(parent.split("service"), 20)).not.toEqual(early);
  expect(draw(seededRng(6).split("arrivals"), 20)).not.toEqual(early);
});

test("drawing from one purpose leaves the others as they were", () => {
  const alone = draw(seededRng(9).split("b"), 20);
  const parent = seededRng(9);
  draw(parent.split("a"), 500);
  expect(draw(parent.split("b"), 20)).toEqual(alone);
});

test("a hundred streams of one parent do not move together", () => {
  const parent = seededRng(13);
  const means = Array.from({ length: 100 }, (_, i) => {
    const numbers = draw(parent.split(`endpoint ${i}`), 500);
    return numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
  });
  // Each mean deviates by 0.0129; the mean of a hundred independent ones by 0.0013.
  expect(new Set(means).size).toBe(100);
  expect(Math.abs(means.reduce((sum, m) => sum + m, 0) / 100 - 0.5)).toBeLessThan(0.0052);
});
