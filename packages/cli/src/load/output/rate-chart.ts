import { AREA, axes, curve, drawing, type Point, round } from "../../sim/chart-frame.ts";
import { linearScale, logScale, type Scale, showShort } from "../../sim/chart-scale.ts";
import { drawableMs, headlineFigure } from "./percentiles.ts";
import type { RunRecord } from "./run-record.ts";
import { meanRatePerSec } from "./run-setup.ts";

const QUANTILES: readonly number[] = [0.5, 0.99];
/** Rates further apart than this are drawn on a log scale. */
const WIDE = 8;
const MARK = 5;

/** The names of its lines, in their order. */
export const RATE_LABELS: readonly string[] = ["p50", "p99"];

/** Latency against rate: percentiles of all planned requests. A cross at the top is one that is unbounded. */
export function rateChart(all: readonly RunRecord[]): string {
  const runs = [...all].sort((a, b) => meanRatePerSec(a.setup) - meanRatePerSec(b.setup));
  const rates = runs.map(({ setup }) => meanRatePerSec(setup));
  const figures = QUANTILES.map((quantile) =>
    runs.map(({ measured }) => headlineFigure(measured, quantile)),
  );
  const known = figures.flat().flatMap((figure) => drawableMs(figure) ?? []);
  const { left, right, top, bottom } = AREA;
  const span = { min: Math.min(...rates), max: Math.max(...rates), from: left, to: right };
  const x = span.max / span.min > WIDE ? logScale(span) : linearScale({ ...span, min: 0 });
  const y = logScale({
    min: known.length === 0 ? 1 : Math.max(0.001, Math.min(...known)),
    max: known.length === 0 ? 10 : Math.max(0.001, ...known),
    from: bottom,
    to: top,
  });
  const lines = figures.map((row, series) => {
    const points = row.flatMap((figure, i): Point[] => {
      const ms = drawableMs(figure);
      return ms === undefined
        ? []
        : [{ x: x.place(rates[i] ?? 0), y: y.place(Math.max(0.001, ms)) }];
    });
    const crosses = row.map((figure, i) =>
      figure.kind === "unbounded" ? cross(x, rates[i] ?? 0, series) : "",
    );
    return `${curve(points, series)}${points.map((point) => dot(point, series)).join("")}${crosses.join("")}`;
  });
  return drawing(
    { id: "rate", title: "Latency against rate", description: words(runs) },
    `${axes({ x, y, xTitle: "requests a second, planned", yTitle: "response time, ms" })}${lines.join("")}`,
  );
}

function dot({ x, y }: Point, series: number): string {
  return `<circle class="f${series}" cx="${round(x)}" cy="${round(y)}" r="3"/>`;
}

function cross(x: Scale, rate: number, series: number): string {
  const at = round(x.place(rate));
  const { top } = AREA;
  return `<path class="l s${series}" d="M${at - MARK} ${top - MARK}l${2 * MARK} ${2 * MARK}m0 -${2 * MARK}l-${2 * MARK} ${2 * MARK}"/>`;
}

function words(runs: readonly RunRecord[]): string {
  const said = (run: RunRecord | undefined): string => {
    if (run === undefined) return "nothing";
    const figure = headlineFigure(run.measured, 0.99);
    const ms = drawableMs(figure);
    const p99 = ms === undefined ? figure.kind : `${showShort(ms)} ms`;
    return `p99 ${p99} at ${showShort(meanRatePerSec(run.setup))} a second`;
  };
  return `Percentiles of the response time by planned rate: ${said(runs[0])}, ${said(runs.at(-1))}.`;
}
