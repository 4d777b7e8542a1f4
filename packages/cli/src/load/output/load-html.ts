import type { Histogram } from "bobtail/engine";
import { showMs, showQuantile } from "../../plan/figures.ts";
import { escapeHtml } from "../../sim/chart-frame.ts";
import { ccdf, spectrum, type TailSeries } from "../../sim/chart-tail.ts";
import { figure, htmlPage } from "../../sim/html-page.ts";
import { shortened, simpleTable } from "../../sim/html-table.ts";
import { checkSentences } from "./check-text.ts";
import {
  describePartial,
  describeRun,
  describeTargets,
  describeTimes,
  showRate,
} from "./describe-run.ts";
import { HEAT_STYLE, heatMap } from "./heat-map.ts";
import { ledgerText } from "./ledger-text.ts";
import { failedText } from "./percentile-table.ts";
import {
  type Figure,
  figureOf,
  headlineFigure,
  REPORT_QUANTILES,
  showFigure,
} from "./percentiles.ts";
import { RATE_LABELS, rateChart } from "./rate-chart.ts";
import { type LoadResult, type RunRecord, runsOf } from "./run-record.ts";
import { meanRatePerSec } from "./run-setup.ts";
import { spectrumPoints } from "./spectrum-points.ts";
import { unsteadiness } from "./steadiness.ts";
import { verdictWord } from "./verdict-text.ts";

const MAX_TEXT = 400;
const MAX_ROWS = 60;
/** As many as there are colours. */
const MAX_CURVES = 8;

/** What was measured as one HTML file: no script, nothing loaded, below 60 KB. */
export function loadHtml(result: LoadResult, version: string): string {
  const runs = runsOf(result);
  const [first] = runs;
  const title = shortened(
    first === undefined ? "bobtail load" : `Load: ${describeTargets(first.setup)}`,
    MAX_TEXT,
  );
  const body = result.kind === "run" ? runBody(result.run) : seriesBody(result);
  return htmlPage({
    title,
    version,
    extraStyle: HEAT_STYLE,
    body: `${body}<p class="dim">Made by <code>bobtail load</code> ${escapeHtml(version)}${first === undefined ? "" : `, ${escapeHtml(first.startedAt)}`}.</p>`,
  });
}

function runBody(run: RunRecord): string {
  const { measured, intervals } = run;
  const series: TailSeries[] = [
    { label: "response, from the planned send; failed ones infinite", points: pointsOf(run) },
    {
      label: "service, from the request written; of those answered",
      points: spectrumPoints((quantile) => figureOf(measured.service, quantile)),
    },
  ];
  return [
    paragraph(describeRun(run), "dim"),
    ...warnings(run).map((text) => paragraph(text, "warn")),
    verdictTable(run),
    `<div class="scroll">${percentilesTable(run)}</div>`,
    figure({
      heading: "Latency over time",
      caption:
        "Darker: more requests, on a log scale. The strip on top is redder the more of the requests planned then failed or were dropped.",
      labels: [],
      svg: heatMap(intervals),
    }),
    tailFigures(series),
    `<h2>Ledger</h2>${ledgerText(measured, MAX_TEXT)
      .map((line) => paragraph(line))
      .join("")}`,
    `<h2>Self-check</h2>${checkSentences(run.check)
      .map((line) => paragraph(line))
      .join("")}`,
    paragraph(describeTimes(run), "dim"),
  ].join("\n");
}

/** A sweep, or the probes of a search. */
function seriesBody(result: Exclude<LoadResult, { kind: "run" }>): string {
  const runs = runsOf(result);
  const said =
    result.kind === "sweep"
      ? result.stopped === undefined
        ? "Latency against rate."
        : `Latency against rate. Ended early: ${result.stopped}.`
      : result.ratePerSec === undefined
        ? `No limit found for ${result.objective}: ${result.because}.`
        : `${showRate(result.ratePerSec)} is the highest rate that keeps ${result.objective}: ${result.because}.`;
  const drawn = spread(
    runs.filter(({ measured }) => measured.all.count > 0),
    MAX_CURVES,
  );
  const series = drawn.map((run) => ({
    label: showRate(meanRatePerSec(run.setup)),
    points: pointsOf(run),
  }));
  return [
    paragraph(said),
    runs.length < 2
      ? ""
      : figure({
          heading: "Latency against rate",
          caption: "Of all planned requests. A cross at the top: unbounded, since so many failed.",
          labels: RATE_LABELS,
          svg: rateChart(runs),
        }),
    `<div class="scroll">${seriesTable(result)}</div>`,
    tailFigures(series),
  ].join("\n");
}

function tailFigures(series: readonly TailSeries[]): string {
  const shown = series.filter(({ points }) => points.length > 0);
  if (shown.length === 0) return "";
  const labels = shown.map(({ label }) => label);
  return (
    figure({
      heading: "Percentile spectrum",
      caption:
        "Each step to the right is another nine. A line ends where the sample does, or where the failed requests begin.",
      labels,
      svg: spectrum(shown),
    }) +
    figure({
      heading: "Share of requests that are slower",
      caption: "A plateau is a mixture: a few requests that meet something else.",
      labels,
      svg: ccdf(shown),
    })
  );
}

function warnings(run: RunRecord): string[] {
  const { check, partial } = run;
  const steady = unsteadiness(run);
  return [
    ...(partial ? [describePartial(run)] : []),
    ...(steady === undefined ? [] : [steady]),
    ...(check.verdict === "ok" ? [] : [checkSentences(check).slice(0, -1).join(" ")]),
  ];
}

function verdictTable({ verdicts }: RunRecord): string {
  if (verdicts.length === 0) return "";
  const rows = verdicts
    .slice(0, MAX_ROWS)
    .map((one) => [`--fail-if ${one.condition}`, one.measured, verdictWord(one)]);
  return `<div class="scroll">${simpleTable(["threshold", "measured", "verdict"], rows)}</div>`;
}

function percentilesTable({ measured }: RunRecord): string {
  const clocks: readonly Histogram[] = [measured.completed, measured.service, measured.sendLag];
  const rows = REPORT_QUANTILES.map((quantile) => [
    showQuantile(quantile),
    showFigure(headlineFigure(measured, quantile)),
    ...clocks.map((histogram) => dashed(figureOf(histogram, quantile))),
  ]);
  const longest = [measured.all, ...clocks].map((h) =>
    h.count === 0 ? "-" : showMs(h.max / 1_000),
  );
  return simpleTable(
    ["", "response, all planned", "success only", "service", "send lag"],
    [...rows, ["longest seen", ...longest]],
  );
}

function seriesTable(result: Exclude<LoadResult, { kind: "run" }>): string {
  const notes =
    result.kind === "limit"
      ? result.probes.map(({ phase, outcome }) => `${phase}: ${outcome}`)
      : [];
  const rows = runsOf(result)
    .slice(0, MAX_ROWS)
    .map((run, i) => {
      const limited = run.check.verdict === "ok" ? "" : "generator-limited";
      const verdicts = run.verdicts.map((one) => `${one.condition} ${verdictWord(one)}`).join(", ");
      return [
        showRate(meanRatePerSec(run.setup)),
        ...[0.5, 0.9, 0.99, 0.999].map((q) => dashed(headlineFigure(run.measured, q))),
        failedText(run.measured),
        [notes[i] ?? "", limited, verdicts].filter((text) => text !== "").join("; "),
      ];
    });
  return simpleTable(["rate", "p50", "p90", "p99", "p99.9", "failed", ""], rows);
}

function pointsOf({ measured }: RunRecord): TailSeries["points"] {
  return spectrumPoints((quantile) => headlineFigure(measured, quantile));
}

function dashed(figure: Figure): string {
  return figure.kind === "unsupported" ? "-" : showFigure(figure);
}

function paragraph(text: string, style = ""): string {
  const shown = escapeHtml(shortened(text, MAX_TEXT)).replaceAll("\n    ", " ");
  return style === "" ? `<p>${shown}</p>` : `<p class="${style}">${shown}</p>`;
}

function spread<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all;
  const step = (all.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, i) => all[Math.round(i * step)] as T);
}
