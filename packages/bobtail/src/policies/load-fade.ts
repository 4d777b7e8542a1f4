/** Never to nothing: among endpoints that all lay idle for long, the last known differences still count. */
const LEAST_RATIO = 1 / 65_536;
/** Most reads are of endpoints that were heard of a moment ago. */
const RECENT = 1 / 256;

/**
 * What is left of a value after a time without news: e^-x for an age of `x` time constants.
 *
 * In [1/65,536, 1]; never rises with age; within 0.1 % of the exact value up to one time constant,
 * above it by 5 % at four. The series of the sixteenth root, squared four times: plain products,
 * because `Math.exp` costs as much as the rest of a pick and differs between engines in the last bit.
 *
 * @param fadePerMs - one over the time constant.
 */
export function fadeRatio(ageMs: number, fadePerMs: number): number {
  const x = ageMs * fadePerMs;
  if (x < RECENT) return x > 0 ? 1 - x * (1 - 0.5 * x) : 1;
  const y = x * 0.0625;
  if (y >= 1) return LEAST_RATIO;
  const root = 1 - y * (1 - 0.5 * y);
  const square = root * root;
  const fourth = square * square;
  const eighth = fourth * fourth;
  return eighth * eighth;
}
