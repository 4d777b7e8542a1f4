const SQRT_2 = Math.SQRT2;
const MAX_TERMS = 100_000;
const TINY = 1e-300;

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
] as const;

/**
 * ln Gamma(x) for x > 0, to about 15 digits.
 *
 * Source: Lanczos, SIAM J. Numer. Anal. 1, 1964, with g = 7 and nine terms.
 */
export function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const z = x - 1;
  let sum: number = LANCZOS[0];
  for (let i = 1; i < LANCZOS.length; i++) sum += (LANCZOS[i] as number) / (z + i);
  const t = z + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
}

/**
 * The regularised incomplete beta function I_x(a, b); a and b above 0, x in [0, 1].
 *
 * Source: the continued fraction of DLMF 8.17.22, evaluated by Lentz' method.
 */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast on this side of the mean only.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const logFront =
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  return (Math.exp(logFront) / a) * betaFraction(x, a, b);
}

function betaFraction(x: number, a: number, b: number): number {
  let c = 1;
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m < MAX_TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / awayFromZero(1 + even * d);
    c = awayFromZero(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / awayFromZero(1 + odd * d);
    c = awayFromZero(1 + odd / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return result;
}

function awayFromZero(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}

/** P(Z > x) of the standard normal; keeps its relative precision far out. */
export function normalTail(x: number): number {
  if (x < 0) return 1 - normalTail(-x);
  if (x > 38) return 0;
  return x < 2.5 ? 0.5 - normalSeries(x) : normalFraction(x);
}

/** P(0 < Z <= x): the series of DLMF 7.6.2. */
function normalSeries(x: number): number {
  let term = x;
  let sum = x;
  for (let k = 1; Math.abs(term) > 1e-17 * sum; k++) {
    term *= (x * x) / (2 * k + 1);
    sum += term;
  }
  return (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

/** The continued fraction of Mills' ratio, from its far end. */
function normalFraction(x: number): number {
  let fraction = x;
  for (let k = 60; k >= 1; k--) fraction = x + k / fraction;
  return Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI) / fraction;
}

/** The x with P(Z <= x) = q; q in (0, 1). */
export function normalQuantile(q: number): number {
  if (q > 0.5) return -normalQuantile(1 - q);
  let low = -40;
  let high = 0;
  while (high - low > 1e-13 * SQRT_2) {
    const middle = (low + high) / 2;
    if (normalTail(-middle) < q) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** 1 + 1/2 + ... + 1/n: the mean of the largest of n exponentials of mean 1. n a whole number >= 0. */
export function harmonicNumber(n: number): number {
  if (n > 1e6) return Math.log(n) + 0.5772156649015329 + 1 / (2 * n);
  let sum = 0;
  for (let k = n; k >= 1; k--) sum += 1 / k;
  return sum;
}
