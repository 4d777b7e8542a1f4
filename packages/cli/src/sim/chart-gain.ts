import { extraRatio } from "bobtail/sim";
import { drawing, escapeHtml, round, WIDTH } from "./chart-frame.ts";
import { linearScale } from "./chart-scale.ts";
import type { ReportRow } from "./sim-report.ts";

export interface Gain {
  readonly label: string;
  readonly extraRatio: number;
  readonly p99Ms: number;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

const ROW = 30;
const TOP = 30;
const NAMES = 220;
const COST = { from: NAMES + 8, to: NAMES + 158 } as const;
const BENEFIT = { from: COST.to + 76, to: WIDTH - 80 } as const;
const MAX_LABEL = 34;

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
  const benefit = linearScale({ min: 0, max: worst, ...BENEFIT });
  const body = gains.map((gain, i) => gainRow({ gain, base, i, cost, benefit })).join("");
  const heads =
    `<text class="t" x="${COST.from}" y="16">extra load, % of calls</text>` +
    `<text class="t" x="${BENEFIT.from}" y="16">p99, ms (change to the first row)</text>`;
  return drawing(
    {
      id: "gain",
      title: "Extra load beside gain",
      description: gains
        .map((g) => `${g.label}: ${percent(g.extraRatio)} extra, p99 ${g.p99Ms.toPrecision(3)} ms.`)
        .join(" "),
      height: TOP + gains.length * ROW + 6,
    },
    `${heads}${body}`,
  );
}

function gainRow({
  gain,
  base,
  i,
  cost,
  benefit,
}: {
  readonly gain: Gain;
  readonly base: Gain;
  readonly i: number;
  readonly cost: { place(value: number): number };
  readonly benefit: { place(value: number): number };
}): string {
  const top = TOP + i * ROW;
  const middle = top + ROW / 2 + 4;
  const end = round(cost.place(gain.extraRatio));
  const right = round(benefit.place(gain.p99Ms));
  const { low, high } = gain;
  const whisker =
    low === undefined || high === undefined
      ? ""
      : `<path class="w" d="M${round(benefit.place(Math.max(0, low)))} ${top + ROW / 2}H${round(benefit.place(high))}"/>`;
  const change = gain === base ? "" : ` (${signed(gain.p99Ms / base.p99Ms - 1)})`;
  const after = round(Math.max(right, high === undefined ? 0 : benefit.place(high)) + 6);
  return (
    `<text x="${NAMES}" y="${middle}" text-anchor="end">${escapeHtml(shortened(gain.label))}</text>` +
    `<rect class="cost" x="${COST.from}" y="${top + 6}" width="${Math.max(0.5, round(end - COST.from))}" height="${ROW - 12}"/>` +
    `<text x="${end + 6}" y="${middle}">${percent(gain.extraRatio)}</text>` +
    `<rect class="f${i}" x="${BENEFIT.from}" y="${top + 6}" width="${Math.max(0.5, round(right - BENEFIT.from))}" height="${ROW - 12}"/>` +
    `${whisker}<text x="${after}" y="${middle}">${gain.p99Ms.toPrecision(3)}${change}</text>`
  );
}

function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(ratio > 0 && ratio < 0.001 ? 2 : 1)} %`;
}

function signed(change: number): string {
  const percent = Math.round(change * 100);
  return `${percent < 0 ? "\u2212" : "+"}${Math.abs(percent)} %`;
}

function shortened(text: string): string {
  return text.length > MAX_LABEL ? `${text.slice(0, MAX_LABEL - 1)}\u2026` : text;
}
