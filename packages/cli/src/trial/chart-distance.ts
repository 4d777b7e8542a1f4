import { showPercent } from "../plan/figures.ts";
import { drawing, escapeHtml, round, WIDTH } from "../sim/chart-frame.ts";
import { logScale, type Scale, showShort } from "../sim/chart-scale.ts";
import { MAX_SERIES } from "../sim/chart-series.ts";
import { shortened } from "../sim/html-table.ts";

/** One balancer's line in the drawing. */
export interface Distance {
  readonly label: string;
  /** Of all requests; undefined where it is not known. */
  readonly p99Ms: number | undefined;
  readonly p999Ms: number | undefined;
  readonly failedRatio: number;
  /** As the grade's letter, or what there is instead. */
  readonly grade: string;
}

const ROW = 26;
const TOP = 34;
const AXIS = 26;
const NAMES = 216;
const PLOT = { from: NAMES + 10, to: WIDTH - 120 } as const;
const MAX_LABEL = 33;

/** Bars that begin at the ideal: p99 filled, p99.9 as a thin line with a dot. The scale is logarithmic, so equal lengths are equal factors. */
export function distanceChart(
  id: string,
  ideal: { readonly p99Ms: number; readonly p999Ms: number },
  rows: readonly Distance[],
): string {
  const known = [
    ideal.p99Ms,
    ideal.p999Ms,
    ...rows.flatMap(({ p99Ms, p999Ms }) => [p99Ms, p999Ms]),
  ].filter((ms): ms is number => ms !== undefined && ms > 0 && Number.isFinite(ms));
  if (known.length === 0) return "";
  const scale = logScale({ min: Math.min(...known), max: Math.max(...known), ...PLOT });
  const bottom = TOP + rows.length * ROW;
  const body = rows.map((row, i) => rowOf(row, { ideal, scale, top: TOP + i * ROW, series: i }));
  return drawing(
    {
      id,
      title: "Distance from the ideal balancer",
      description: `ideal: p99 ${showShort(ideal.p99Ms)} ms. ${rows.map(told).join(" ")}`,
      height: bottom + AXIS,
    },
    `${gridOf(scale, bottom)}${idealLine(scale.place(ideal.p99Ms), bottom)}${body.join("")}`,
  );
}

function told({ label, p99Ms, failedRatio, grade }: Distance): string {
  const time = p99Ms === undefined ? "not known" : `${showShort(p99Ms)} ms`;
  return `${label}: ${grade}, p99 ${time}, ${showPercent(failedRatio)} failed.`;
}

function gridOf(scale: Scale, bottom: number): string {
  const lines = scale.ticks.map(({ value }) => `M${round(scale.place(value))} ${TOP}V${bottom}`);
  const labels = scale.ticks.map(
    ({ value, label }) =>
      `<text x="${round(scale.place(value))}" y="${bottom + 17}" text-anchor="middle">${escapeHtml(label)}</text>`,
  );
  return `<path class="g" d="${lines.join("")}"/>${labels.join("")}<text class="t" x="${WIDTH - 110}" y="${bottom + 17}">ms, log</text>`;
}

function idealLine(x: number, bottom: number): string {
  return (
    `<path class="a" stroke-width="2" d="M${round(x)} ${TOP - 8}V${bottom}"/>` +
    `<text class="t" x="${round(x)}" y="${TOP - 14}" text-anchor="middle">ideal p99</text>`
  );
}

interface Place {
  readonly ideal: { readonly p99Ms: number };
  readonly scale: Scale;
  readonly top: number;
  readonly series: number;
}

function rowOf(row: Distance, { ideal, scale, top, series }: Place): string {
  const y = top + ROW / 2;
  const fill = `f${series % MAX_SERIES}`;
  const name = `<text x="${NAMES}" y="${y + 4}" text-anchor="end">${escapeHtml(shortened(row.label, MAX_LABEL))}</text>`;
  const failed = row.failedRatio === 0 ? "" : `, ${showPercent(row.failedRatio)} fail`;
  const verdict = `<text class="t" x="${PLOT.to + 10}" y="${y + 4}">${escapeHtml(`${row.grade}${failed}`)}</text>`;
  if (row.p99Ms === undefined) return `${name}${verdict}`;
  const from = scale.place(ideal.p99Ms);
  const to = scale.place(row.p99Ms);
  const bar = `<rect class="${fill}" x="${round(Math.min(from, to))}" y="${top + 7}" width="${Math.max(1, round(Math.abs(to - from)))}" height="${ROW - 14}"/>`;
  if (row.p999Ms === undefined) return `${name}${bar}${verdict}`;
  const far = round(scale.place(row.p999Ms));
  return `${name}${bar}<path class="w" d="M${round(to)} ${y}H${far}"/><circle class="${fill}" cx="${far}" cy="${y}" r="4"/>${verdict}`;
}
