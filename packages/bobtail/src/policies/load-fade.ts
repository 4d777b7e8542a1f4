/** Never to nothing: among endpoints that all lay idle for long, the last known differences still count. */
const LEAST_RATIO = 1e-6;

/**
 * What is left of a value after a time without news: e^-x, for an age of `x` time constants.
 *
 * In [1e-6, 1]; never rises with age. Within 0.1 % of e^-x for x <= 6. Plain arithmetic, because
 * `Math.exp` costs more than the rest of a pick and differs between engines in the last bit.
 */
export function fadeRatio(ageMs: number, timeConstantMs: number): number {
  if (ageMs <= 0) return 1;
  const y = ageMs / (timeConstantMs * 16);
  const root = 1 / (1 + y * (1 + y * (0.5 + y * (1 / 6 + y * (1 / 24)))));
  const square = root * root;
  const fourth = square * square;
  const eighth = fourth * fourth;
  const ratio = eighth * eighth;
  return ratio > LEAST_RATIO ? ratio : LEAST_RATIO;
}
