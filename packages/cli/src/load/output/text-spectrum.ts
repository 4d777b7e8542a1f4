import { showShort } from "../../sim/chart-scale.ts";
import type { SpectrumPoint } from "./spectrum-points.ts";

const BLOCKS = " ▁▂▃▄▅▆▇█";
const ROWS = 5;
const MARGIN = 11;
const MAX_COLUMNS = 72;
const MIN_COLUMNS = 12;

/**
 * The percentile spectrum in block glyphs: a nine more at each fifth to the right, latency upwards on a log scale.
 * It ends where the sample does. Narrower than 24 columns there is none.
 */
export function textSpectrum(points: readonly SpectrumPoint[], widthColumns: number): string[] {
  const columns = Math.min(MAX_COLUMNS, widthColumns - MARGIN - 2);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 3 || columns < MIN_COLUMNS)
    return [];
  const [low, high] = [Math.log10(first.ms), Math.log10(Math.max(last.ms, first.ms * 1.01))];
  const heights = Array.from({ length: columns }, (_, i) => {
    const nines = first.nines + ((last.nines - first.nines) * i) / (columns - 1);
    const { ms } = points.findLast((point) => point.nines <= nines + 1e-9) ?? first;
    return 1 + Math.round(((Math.log10(ms) - low) / (high - low)) * (8 * ROWS - 1));
  });
  const lines = Array.from({ length: ROWS }, (_, row) => {
    const floor = 8 * (ROWS - 1 - row);
    const glyphs = heights.map((height) => BLOCKS[Math.max(0, Math.min(8, height - floor))] ?? " ");
    const label =
      row === 0 ? `${showShort(last.ms)} ms` : row === ROWS - 1 ? `${showShort(first.ms)} ms` : "";
    return `${label.padStart(MARGIN - 1)} ${glyphs.join("")}`.trimEnd();
  });
  return [...lines, axisOf(first.nines, last.nines, columns)];
}

function axisOf(from: number, to: number, columns: number): string {
  const marks: readonly (readonly [nines: number, label: string])[] = [
    [Math.log10(2), "p50"],
    [1, "p90"],
    [2, "p99"],
    [3, "p99.9"],
    [4, "p99.99"],
    [5, "p99.999"],
  ];
  let line = " ".repeat(MARGIN);
  for (const [nines, label] of marks) {
    if (nines < from - 1e-9 || nines > to + 1e-9) continue;
    const at = MARGIN + Math.round(((nines - from) / (to - from)) * (columns - 1));
    const start = Math.min(at, MARGIN + columns - label.length);
    if (line.length > start && start !== MARGIN) continue;
    line = line.padEnd(start) + label;
  }
  return line;
}
