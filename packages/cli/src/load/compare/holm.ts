/**
 * p-values that hold together: calling all that are at most `level` makes a false call in at most that share of the families.
 *
 * Source: Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6, 1979.
 */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues.map((_, i) => i);
  order.sort((i, j) => (pValues[i] as number) - (pValues[j] as number));
  const adjusted = pValues.map(() => 1);
  let largest = 0;
  for (const [step, i] of order.entries()) {
    largest = Math.max(largest, (pValues.length - step) * (pValues[i] as number));
    adjusted[i] = Math.min(1, largest);
  }
  return adjusted;
}
