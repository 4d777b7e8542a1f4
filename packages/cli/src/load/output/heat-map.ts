import type { Histogram } from "bobtail/engine";
import { empiricalFromHistogram } from "bobtail/plan";
import { showPercent } from "../../plan/figures.ts";
import { AREA, axes, drawing, round } from "../../sim/chart-frame.ts";
import { linearScale, logScale, type Scale, showShort } from "../../sim/chart-scale.ts";
import type { LoadInterval } from "../load-report.ts";

/** Each level is about three times as many requests as the one before it. */
const OPACITIES: readonly number[] = [0.14, 0.28, 0.44, 0.6, 0.8, 1];
const MAX_LEVEL = OPACITIES.length - 1;
const ROWS = 36;
const MAX_COLUMNS = 160;
/** Of markup; a page holds more than this drawing. */
const MAX_CELL_BYTES = 22_000;
const STRIP_TOP = 3;
const STRIP_HEIGHT = 8;
const MIN_MS = 0.001;

/** What the drawing needs beside {@link reportStyle}. */
export const HEAT_STYLE =
  ".h{fill:none;stroke:var(--c0)}.x{fill:none;stroke:var(--c1)}.z{fill:var(--grid)}";

interface Column {
  readonly startMs: number;
  readonly lengthMs: number;
  readonly all: readonly Histogram[];
  readonly infinite: number;
  readonly due: number;
}

/**
 * Time by latency, darker where more requests lie (on a log scale); the strip above it is redder the more of the requests
 * planned then failed or were dropped. Stalls, waves and mixtures that a percentile hides are seen here.
 * Source: Gregg, "Visualizing System Latency", CACM 53, 2010.
 */
export function heatMap(intervals: readonly LoadInterval[]): string {
  const filled = intervals.filter(({ all }) => all.count > 0);
  const last = intervals.at(-1);
  if (last === undefined || filled.length === 0) return "";
  const { left, right, top, bottom } = AREA;
  const x = linearScale({
    min: 0,
    max: (last.startMs + last.lengthMs) / 1_000,
    from: left,
    to: right,
  });
  const histograms = filled.map(({ all }) => all);
  const y = logScale({
    min: Math.max(MIN_MS, Math.min(...histograms.map(({ min }) => min / 1_000))),
    max: Math.max(MIN_MS, ...histograms.map(({ max }) => max / 1_000)),
    from: bottom,
    to: top,
  });
  return drawing(
    {
      id: "heat",
      title: "Latency over time",
      description: words(intervals),
    },
    `${axes({ x, y, xTitle: "planned send, s from the start of measuring", yTitle: "response time, ms" })}${cells(intervals, x, y)}`,
  );
}

/** As many columns as fit in the bytes there are. */
function cells(intervals: readonly LoadInterval[], x: Scale, y: Scale): string {
  for (let most = MAX_COLUMNS; ; most = Math.floor(most / 2)) {
    const columns = columnsOf(intervals, most);
    const markup = `${strip(columns, x)}${body(columns, x, y)}`;
    if (markup.length <= MAX_CELL_BYTES || most <= 10) return markup;
  }
}

function columnsOf(intervals: readonly LoadInterval[], most: number): readonly Column[] {
  const each = Math.ceil(intervals.length / most);
  const columns: Column[] = [];
  for (let i = 0; i < intervals.length; i += each) {
    const part = intervals.slice(i, i + each);
    columns.push({
      startMs: part[0]?.startMs ?? 0,
      lengthMs: part.reduce((sum, { lengthMs }) => sum + lengthMs, 0),
      all: part.map(({ all }) => all),
      infinite: part.reduce((sum, { infinite }) => sum + infinite, 0),
      due: part.reduce((sum, { sent, dropped }) => sum + sent + dropped, 0),
    });
  }
  return columns;
}

function strip(columns: readonly Column[], x: Scale): string {
  const { left, right } = AREA;
  const ground = `<rect class="z" x="${left}" y="${STRIP_TOP}" width="${right - left}" height="${STRIP_HEIGHT}"/>`;
  const bars = columns
    .filter(({ infinite }) => infinite > 0)
    .map(({ startMs, lengthMs, infinite, due }) => {
      const from = round(x.place(startMs / 1_000));
      const width = round(x.place((startMs + lengthMs) / 1_000) - x.place(startMs / 1_000));
      // The first failure must be seen: never fainter than a third.
      const opacity = round(0.3 + 0.7 * Math.min(1, infinite / Math.max(1, due)));
      return `<path class="x" stroke-width="${STRIP_HEIGHT}" stroke-opacity="${opacity}" d="M${from} ${STRIP_TOP + STRIP_HEIGHT / 2}h${width}"/>`;
    });
  return ground + bars.join("");
}

function body(columns: readonly Column[], x: Scale, y: Scale): string {
  const { bottom, top } = AREA;
  const rowHeight = (bottom - top) / ROWS;
  const levels = OPACITIES.map(() => "");
  const counts = columns.map(({ all }) => rowCounts(all, y, rowHeight));
  const most = Math.max(1, ...counts.flatMap((column) => [...column]));
  for (let row = 0; row < ROWS; row++) {
    for (let at = 0; at < columns.length; ) {
      const level = levelOf(counts[at]?.[row] ?? 0, most);
      let end = at + 1;
      while (end < columns.length && levelOf(counts[end]?.[row] ?? 0, most) === level) end++;
      // Cells of one level beside each other are one stroke.
      if (level >= 0) levels[level] += `M${at} ${row}h${end - at}`;
      at = end;
    }
  }
  const [first] = columns;
  const step = x.place((first?.lengthMs ?? 0) / 1_000) - x.place(0);
  const paths = levels.map((d, i) =>
    d === "" ? "" : `<path stroke-opacity="${OPACITIES[i]}" d="${d}"/>`,
  );
  return `<g class="h" transform="translate(${AREA.left} ${round(bottom - rowHeight / 2)}) scale(${step.toFixed(4)} ${(-rowHeight).toFixed(4)})">${paths.join("")}</g>`;
}

function rowCounts(all: readonly Histogram[], y: Scale, rowHeight: number): Float64Array {
  const counts = new Float64Array(ROWS);
  for (const histogram of all) {
    if (histogram.count === 0) continue;
    const { valuesMs, cumulative } = empiricalFromHistogram(histogram, 0.001);
    valuesMs.forEach((ms, i) => {
      const place = (AREA.bottom - y.place(Math.max(MIN_MS, ms))) / rowHeight;
      const row = Math.max(0, Math.min(ROWS - 1, Math.floor(place)));
      counts[row] = (counts[row] ?? 0) + (cumulative[i] ?? 0) - (cumulative[i - 1] ?? 0);
    });
  }
  return counts;
}

/** -1: no request. */
function levelOf(count: number, most: number): number {
  if (count === 0) return -1;
  if (most <= 1) return MAX_LEVEL;
  return Math.round((Math.log(count) / Math.log(most)) * MAX_LEVEL);
}

function words(intervals: readonly LoadInterval[]): string {
  const due = intervals.reduce((sum, { sent, dropped }) => sum + sent + dropped, 0);
  const infinite = intervals.reduce((sum, one) => sum + one.infinite, 0);
  const slowest = intervals.reduce((a, b) => ((b.all.max || 0) > (a.all.max || 0) ? b : a));
  return `Response times by the moment of the planned send. The slowest request, ${showShort((slowest.all.max || 0) / 1_000)} ms, was planned ${showShort(slowest.startMs / 1_000)} s in; ${showPercent(due === 0 ? 0 : infinite / due)} failed or were dropped.`;
}
