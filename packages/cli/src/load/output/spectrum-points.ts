import { drawableMs, type Figure } from "./percentiles.ts";

/** A percentile as a place on a spectrum. */
export interface SpectrumPoint {
  /** log10(1 / (1 - quantile)): 2 is the p99. */
  readonly nines: number;
  readonly ms: number;
}

const STEP = 0.1;
const MAX_NINES = 6;
/** Log scales begin at a microsecond. */
const MIN_MS = 0.001;

/** From the p21 on, as far as the sample carries and the percentiles are finite. */
export function spectrumPoints(figureAt: (quantile: number) => Figure): SpectrumPoint[] {
  const points: SpectrumPoint[] = [];
  for (let i = 1; i * STEP <= MAX_NINES; i++) {
    const nines = i * STEP;
    const ms = drawableMs(figureAt(1 - 10 ** -nines));
    if (ms === undefined) break;
    points.push({ nines, ms: Math.max(MIN_MS, ms) });
  }
  return points;
}
