/** From best to worst. */
export const GRADES = ["A", "B", "C", "D", "E", "F"] as const;

export type Grade = (typeof GRADES)[number];

/**
 * The greatest ratio to the ideal balancer's percentile that still gets the grade; beyond the last it is an F.
 *
 * A: what one run of a good balancer scatters by. B: users wait twice as long. D: five times, which is what the
 * sick backend of most scenarios is slower by, so nobody routed round it. F: queues build up behind the fault.
 */
export const RATIO_LIMITS = [1.5, 2, 3, 5, 10] as const;

/**
 * The greatest share of failed requests, beyond the ideal balancer's, that still gets the grade. Half a decade
 * each: one in a thousand is where a p99.9 has no value any more, one in a hundred where a p99 has none, and one
 * in ten is what a sick backend of ten gets without any balancing.
 */
export const FAILED_LIMITS = [0.001, 0.003, 0.01, 0.03, 0.1] as const;

/** What a grade is made from. Those of the run are lower bounds: what the sample proves at 95 %. */
export interface GradeBasis {
  /** Failures count as infinite; where that has no value, of the requests that were answered. */
  readonly p99Ms: number | undefined;
  readonly p999Ms: number | undefined;
  readonly failedRatio: number;
  readonly ideal: {
    readonly p99Ms: number;
    readonly p999Ms: number;
    readonly failedRatio: number;
  };
}

export interface Graded {
  readonly grade: Grade;
  /** The measure that decided, as "p99.9 is 2.8 x the ideal or more"; empty for an A. */
  readonly why: string;
}

/** The worst of three: p99 and p99.9 against the ideal, and failures beyond the ideal's. */
export function gradeOf(basis: GradeBasis): Graded {
  const { ideal } = basis;
  const excessRatio = Math.max(0, basis.failedRatio - ideal.failedRatio);
  const measures = [
    {
      step: stepOf(excessRatio, FAILED_LIMITS),
      why: `${(excessRatio * 100).toFixed(1)} % of requests or more fail beyond the ideal`,
    },
    ...latencyMeasure("p99", basis.p99Ms, ideal.p99Ms),
    ...latencyMeasure("p99.9", basis.p999Ms, ideal.p999Ms),
  ];
  // The first of the worst: failures before times, the coarser percentile before the finer.
  const worst = measures.reduce((a, b) => (b.step > a.step ? b : a));
  const grade = GRADES[worst.step] ?? "F";
  return { grade, why: grade === "A" ? "" : worst.why };
}

function latencyMeasure(
  name: string,
  ms: number | undefined,
  idealMs: number,
): { step: number; why: string }[] {
  // An ideal that itself has no such percentile asks for nothing.
  if (ms === undefined || !(idealMs > 0) || !Number.isFinite(idealMs)) return [];
  const ratio = ms / idealMs;
  return [
    { step: stepOf(ratio, RATIO_LIMITS), why: `${name} is ${shown(ratio)} x the ideal or more` },
  ];
}

function stepOf(value: number, limits: readonly number[]): number {
  const step = limits.findIndex((limit) => value <= limit);
  return step === -1 ? limits.length : step;
}

function shown(ratio: number): string {
  return ratio.toFixed(ratio < 9.95 ? 2 : 0);
}

/** Is this grade worse than that one? */
export function isWorse(grade: Grade, than: Grade): boolean {
  return GRADES.indexOf(grade) > GRADES.indexOf(than);
}

export function worstOf(grades: readonly Grade[]): Grade | undefined {
  return grades.reduce<Grade | undefined>(
    (worst, grade) => (worst === undefined || isWorse(grade, worst) ? grade : worst),
    undefined,
  );
}

/** One-sided 95 % of the normal distribution. */
const Z = 1.645;

/**
 * The quantile that a sample of n puts below the true one, `quantile`, with 95 % confidence: its value is what
 * the sample proves. Ranks are binomial; normal approximation.
 */
export function provenQuantile(quantile: number, count: number): number {
  if (count === 0) return 0;
  return Math.max(0, quantile - Z * Math.sqrt((quantile * (1 - quantile)) / count));
}

/** The share that so many failures prove, at 95 %: the lower end of Wilson's interval (1927). */
export function provenRatio(failed: number, count: number): number {
  if (count === 0 || failed === 0) return 0;
  const ratio = failed / count;
  const square = Z * Z;
  const middle = ratio + square / (2 * count);
  const half = Z * Math.sqrt((ratio * (1 - ratio)) / count + square / (4 * count * count));
  return Math.max(0, (middle - half) / (1 + square / count));
}
