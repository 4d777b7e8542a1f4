import fc from "fast-check";
import { expect, test } from "vitest";
import { holm } from "./holm.ts";

test("four p-values by hand: the smallest times 4, the next times 3, and never less than one before", () => {
  for (const [i, adjusted] of holm([0.01, 0.04, 0.03, 0.005]).entries())
    expect(adjusted).toBeCloseTo([0.03, 0.06, 0.06, 0.02][i] ?? 0, 12);
});

test("each is at least the plain one and at most Bonferroni's, and the order stays", () => {
  const pValue = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.array(pValue, { minLength: 1, maxLength: 8 }), (plain) => {
      const adjusted = holm(plain);
      for (const [i, p] of plain.entries()) {
        expect(adjusted[i]).toBeGreaterThanOrEqual(p);
        expect(adjusted[i]).toBeLessThanOrEqual(Math.min(1, p * plain.length));
        for (const [j, q] of plain.entries())
          if (p < q) expect(adjusted[i]).toBeLessThanOrEqual(adjusted[j] as number);
      }
    }),
  );
});
