import { AREA, axes, band, curve, drawing, type Point } from "./chart-frame.ts";
import { logScale, type Scale, showShort, type Tick } from "./chart-scale.ts";
import { FIRST_NINES, type TailPoint } from "./chart-series.ts";

export interface TailSeries {
  readonly label: string;
  readonly points: readonly TailPoint[];
}

/** More bands than this hide each other. */
const MAX_BANDS = 4;
/** Log scales begin here: 1 us. */
const MIN_MS = 0.001;

/** The percentile spectrum: how much worse it gets with each nine. Lines end where the sample does. */
export function spectrum(series: readonly TailSeries[]): string {
  const { left, right, top, bottom } = AREA;
  const all = series.flatMap(({ points }) => points);
  const y = msScale(all, { from: bottom, to: top });
  const most = Math.max(1, ...all.map(({ nines }) => nines));
  const x: Scale = {
    place: (nines) => left + ((nines - FIRST_NINES) / (most - FIRST_NINES)) * (right - left),
    ticks: ninesTicks(most),
  };
  // An interval may go on beyond what is drawn.
  const inside = (place: number): number => Math.min(bottom, Math.max(top, place));
  const at = (nines: number, ms: number): Point => ({
    x: x.place(nines),
    y: inside(y.place(clip(ms))),
  });
  const body = series.map(({ points }, i) => {
    const isBanded = series.length <= MAX_BANDS;
    const known = points.filter((p) => isBanded && p.low !== undefined && p.high !== undefined);
    const low = known.map((p) => at(p.nines, p.low ?? p.ms));
    const high = known.map((p) => at(p.nines, p.high ?? p.ms));
    return `${band(low, high, i)}${curve(
      points.map((p) => at(p.nines, p.ms)),
      i,
    )}`;
  });
  const frame = axes({ x, y, xTitle: "percentile", yTitle: "latency, ms" });
  return drawing(
    {
      id: "spectrum",
      title: "Percentile spectrum",
      description: `Latency by percentile on a scale of nines. ${tailWords(series)}`,
    },
    `${frame}${body.join("")}`,
  );
}

/** The share of requests that are slower, by latency; both axes logarithmic. Mixtures and hedges show as knees. */
export function ccdf(series: readonly TailSeries[]): string {
  const { left, right, top, bottom } = AREA;
  const all = series.flatMap(({ points }) => points);
  const x = msScale(all, { from: left, to: right });
  const least = 10 ** -Math.max(1, ...all.map(({ nines }) => nines));
  const y = logScale({ min: least, max: 1, from: bottom, to: top });
  const percent: Scale = { place: y.place, ticks: y.ticks.map(percentTick) };
  const body = series.map(({ points }, i) =>
    curve(
      points.map((p) => ({ x: x.place(clip(p.ms)), y: y.place(10 ** -p.nines) })),
      i,
    ),
  );
  const frame = axes({ x, y: percent, xTitle: "latency, ms", yTitle: "share that is slower" });
  return drawing(
    {
      id: "ccdf",
      title: "Share of requests that are slower",
      description: `Complementary distribution of the latency, logarithmic on both axes. ${tailWords(series)}`,
    },
    `${frame}${body.join("")}`,
  );
}

/** The percentiles that people name, for the table beside the charts. */
export function namedPercentiles(points: readonly TailPoint[]): readonly (number | undefined)[] {
  return [0.301, 1, 2, 3, 4].map((nines) => {
    const after = points.findIndex((p) => p.nines >= nines - 1e-9);
    const [a, b] = [points[after - 1], points[after]];
    if (b === undefined) return undefined;
    if (a === undefined || Math.abs(b.nines - nines) < 1e-9) return b.ms;
    return a.ms + ((b.ms - a.ms) * (nines - a.nines)) / (b.nines - a.nines);
  });
}

function msScale(points: readonly TailPoint[], ends: { from: number; to: number }): Scale {
  const ms = points.map((p) => clip(p.ms));
  return logScale({
    min: ms.length === 0 ? 1 : Math.min(...ms),
    max: ms.length === 0 ? 10 : Math.max(...ms),
    ...ends,
  });
}

function clip(ms: number): number {
  return Math.max(MIN_MS, ms);
}

function ninesTicks(most: number): Tick[] {
  const ticks: Tick[] = [{ value: Math.log10(2), label: "p50" }];
  for (let nines = 1; nines <= most + 1e-9; nines++) {
    const percent = nines === 1 ? "90" : nines === 2 ? "99" : `99.${"9".repeat(nines - 2)}`;
    ticks.push({ value: nines, label: `p${percent}` });
  }
  return ticks;
}

function percentTick({ value }: Tick): Tick {
  return { value, label: `${Number((value * 100).toPrecision(3))} %` };
}

function tailWords(series: readonly TailSeries[]): string {
  return series
    .map(({ label, points }) => {
      const [p50, , p99] = namedPercentiles(points);
      const said = [
        ...(p50 === undefined ? [] : [`p50 ${showShort(p50)} ms`]),
        ...(p99 === undefined ? [] : [`p99 ${showShort(p99)} ms`]),
      ];
      return `${label}: ${said.join(", ")}.`;
    })
    .join(" ");
}
