/** One fact that Bobtail must reproduce: what is expected, how near is near enough, and how to find out. */
export interface VerifyRow {
  /** Row of the acceptance list; several checks may share one. */
  readonly row: number;
  readonly fact: string;
  readonly source: string;
  readonly expected: number;
  readonly tolerance: Tolerance;
  /** Deterministic. */
  compute(): number;
}

export type Tolerance =
  /** Of the expected value. */
  | { readonly kind: "relative"; readonly ratio: number }
  /** In the unit of the value. */
  | { readonly kind: "absolute"; readonly width: number }
  | { readonly kind: "exact" };

/** Whether a value is near enough. */
export function holds({ expected, tolerance }: VerifyRow, got: number): boolean {
  switch (tolerance.kind) {
    case "exact":
      return got === expected;
    case "relative":
      return Math.abs(got - expected) <= tolerance.ratio * Math.abs(expected);
    case "absolute":
      return Math.abs(got - expected) <= tolerance.width;
  }
}

/** As a table shows it: `1 %`, `0.001`, `exact`. */
export function showTolerance(tolerance: Tolerance): string {
  switch (tolerance.kind) {
    case "exact":
      return "exact";
    case "relative":
      return `${Number((tolerance.ratio * 100).toPrecision(3))} %`;
    case "absolute":
      return `+-${Number(tolerance.width.toPrecision(3))}`;
  }
}
