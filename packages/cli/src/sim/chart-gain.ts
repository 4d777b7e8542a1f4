import { extraRatio } from "bobtail/sim";
import { drawing, escapeHtml, round, WIDTH } from "./chart-frame.ts";
import { linearScale, logScale, type Scale, showShort } from "./chart-scale.ts";
import { MAX_SERIES } from "./chart-series.ts";
import { shortened } from "./html-table.ts";
import type { ReportRow } from "./sim-report.ts";

export interface Gain {
  readonly label: string;
  readonly extraRatio: number;
  readonly p99Ms: number;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

/** Rows that are drawn, at most. */
export const MAX_GAINS = 12;

const ROW = 26;
const TOP = 30;
const NAMES = 220;
const COST = { from: NAMES + 8, to: NAMES + 138 } as const;
const BENEFIT = { from: COST.to + 70, to: WIDTH - 130 } as const;
const MAX_LABEL = 34;
/** From here on bars would be slivers beside the longest: the scale is logarithmic, with dots. */
const LOG_SPREAD = 8;
/** A greater change is told as a factor. */
const FACTOR = 3;

/** Cost and benefit of a row, or undefined where it shows only one of them. */
export function gainOf(label: string, row: ReportRow): Gain | undefined {
  const p99 = row.cells.p99;
  const all = row.results?.all;
  const extra = all === undefined ? row.cells.extra?.value : extraRatio(all);
  if (p99 === undefined || p99.value === null || extra === undefined || extra === null)
    return undefined;
  return { label, extraRatio: extra, p99Ms: p99.value, low: p99.low, high: p99.high };
}

/** Extra load on the left, the p99 that it bought on the right, in one line. */
export function gainChart(gains: readonly Gain[]): string {
  const [base] = gains;
  if (base === undefined) return "";
  const most = Math.max(0.01, ...gains.map((gain) => gain.extraRatio));
  const cost = linearScale({ min: 0, max: most, ...COST });
  const worst = Math.max(...gains.map((gain) => Math.max(gain.p99Ms, gain.high ?? 0)));
  const best = Math.min(...gains.map((gain) => gain.p99Ms));
  const isLog = best > 0 && worst / best > LOG_SPREAD;
  const benefit = isLog
    ? logScale({ min: best, max: worst, ...BENEFIT })
    : linearScale({ min: 0, max: worst, ...BENEFIT });
  const rows = gains.map((gain, i) => ({ gain, base, top: TOP + i * ROW, series: i }));
  const body = rows
    .map((row) => `${costOf(row, cost)}${isLog ? dotOf(row, benefit) : barOf(row, benefit)}`)
    .join("");
  const how = isLog ? "p99, ms, log scale" : "p99, ms";
  const heads =
    `<text class="t" x="${COST.from}" y="16">extra load, % of calls</text>` +
    `<text class="t" x="${BENEFIT.from}" y="16">${how} (change to the first row)</text>`;
  return drawing(
    {
      id: "gain",
      title: "Extra load beside gain",
      description: gains
        .map((g) => `${g.label}: ${percent(g.extraRatio)} extra, p99 ${showShort(g.p99Ms)} ms.`)
        .join(" "),
      height: TOP + gains.length * ROW + 6,
    },
    `${heads}${body}`,
  );
}

interface Row {
  readonly gain: Gain;
  readonly base: Gain;
  readonly top: number;
  readonly series: number;
}

function costOf({ gain, top }: Row, scale: Scale): string {
  const end = round(scale.place(gain.extraRatio));
  const baseline = top + ROW / 2 + 4;
  const width = Math.max(0.5, round(end - COST.from));
  return (
    `<text x="${NAMES}" y="${baseline}" text-anchor="end">${escapeHtml(shortened(gain.label, MAX_LABEL))}</text>` +
    `<rect class="cost" x="${COST.from}" y="${top + 5}" width="${width}" height="${ROW - 10}"/>` +
    `<text x="${end + 6}" y="${baseline}">${percent(gain.extraRatio)}</text>`
  );
}

function barOf(row: Row, scale: Scale): string {
  const { gain, top, series } = row;
  const width = Math.max(0.5, round(scale.place(gain.p99Ms) - BENEFIT.from));
  const bar = `<rect class="${fillOf(series)}" x="${BENEFIT.from}" y="${top + 5}" width="${width}" height="${ROW - 10}"/>`;
  const end = scale.place(Math.max(gain.p99Ms, gain.high ?? 0));
  return `${bar}${whiskerOf(row, scale)}${valueText(row, end)}`;
}

function dotOf(row: Row, scale: Scale): string {
  const { gain, top, series } = row;
  const y = top + ROW / 2;
  const guide = `<path class="g" d="M${BENEFIT.from} ${y}H${BENEFIT.to}"/>`;
  const dot = `<circle class="${fillOf(series)}" cx="${round(scale.place(gain.p99Ms))}" cy="${y}" r="5"/>`;
  return `${guide}${whiskerOf(row, scale)}${dot}${valueText(row, BENEFIT.to)}`;
}

function whiskerOf({ gain: { low, high }, top }: Row, scale: Scale): string {
  if (low === undefined || high === undefined) return "";
  const from = low <= 0 ? BENEFIT.from : Math.max(BENEFIT.from, scale.place(low));
  return `<path class="w" d="M${round(from)} ${top + ROW / 2}H${round(scale.place(high))}"/>`;
}

function valueText({ gain, base, top }: Row, after: number): string {
  const change = gain === base || base.p99Ms === 0 ? "" : ` (${changeOf(gain.p99Ms / base.p99Ms)})`;
  return `<text x="${round(after + 9)}" y="${top + ROW / 2 + 4}">${showShort(gain.p99Ms)}${change}</text>`;
}

function fillOf(series: number): string {
  return series < MAX_SERIES ? `f${series}` : "cost";
}

function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(ratio > 0 && ratio < 0.001 ? 2 : 1)} %`;
}

function changeOf(factor: number): string {
  if (factor >= FACTOR) return `x ${showShort(factor)}`;
  const change = Math.round((factor - 1) * 100);
  return change === 0 ? "same" : `${change < 0 ? "\u2212" : "+"}${Math.abs(change)} %`;
}
