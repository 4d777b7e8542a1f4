import { escapeHtml } from "./chart-frame.ts";
import { type Gain, gainChart, gainOf, MAX_GAINS } from "./chart-gain.ts";
import { showShort } from "./chart-scale.ts";
import { type ChosenRows, chooseRows, tailOf } from "./chart-series.ts";
import { sweepChart, sweepSeries } from "./chart-sweep.ts";
import { ccdf, namedPercentiles, spectrum, type TailSeries } from "./chart-tail.ts";
import { figure, htmlPage } from "./html-page.ts";
import { reportTable, shortened, simpleTable } from "./html-table.ts";
import { methodOf, partialOf } from "./sim-figures.ts";
import type { SimReport } from "./sim-report.ts";

/** Names and settings are the user's own and may be long. */
const MAX_TEXT = 400;

/** The report as one HTML file: no script, nothing loaded, below 60 KB. */
export function htmlReport(report: SimReport): string {
  const title = shortened(report.title, MAX_TEXT);
  const chosen = chooseRows(report);
  const source =
    report.source === undefined ? "" : `<p class="dim">Source: ${escapeHtml(report.source)}.</p>`;
  const warning = report.partial ? `<p class="warn">${escapeHtml(partialOf(report))}</p>` : "";
  const notes = report.notes.map((note) => `<p>${escapeHtml(note)}</p>`).join("");
  return htmlPage({
    title,
    version: report.version,
    body: `${source}<p class="dim">${escapeHtml(shortened(methodOf(report), MAX_TEXT))}</p>${warning}
${reportTable(report)}${notes}
${sweepFigure(report)}${gainFigure(chooseRows(report, MAX_GAINS))}${tailFigures(chosen)}
<p class="dim">Made by <code>bobtail sim</code> ${escapeHtml(report.version)}, scenario <code>${escapeHtml(shortened(report.name))}</code>.</p>`,
  });
}

function sweepFigure(report: SimReport): string {
  const series = sweepSeries(report);
  const points = report.axes[0]?.values.length ?? 0;
  if (points < 2) return "";
  return figure({
    heading: shortened(`Against ${report.axes[0]?.path}`),
    caption: "Upright strokes are 95 % intervals.",
    labels: series.map(({ label }) => label),
    svg: sweepChart(report, series),
  });
}

function gainFigure({ rows, which }: ChosenRows): string {
  const gains = rows
    .map(({ label, row }) => gainOf(label, row))
    .filter((gain): gain is Gain => gain !== undefined);
  if (gains.length < 2) return "";
  return figure({
    heading: `Extra load beside gain${which === "" ? "" : `, ${which}`}`,
    caption: "What each row costs the servers, and the p99 it gives.",
    labels: [],
    svg: gainChart(gains),
  });
}

function tailFigures({ rows, which }: ChosenRows): string {
  const series = rows.flatMap(({ label, row }): TailSeries[] =>
    row.results === undefined ? [] : [{ label, points: tailOf(row.results) }],
  );
  if (series.length === 0) return "";
  const labels = series.map(({ label }) => label);
  const where = which === "" ? "" : `, ${which}`;
  const rowsOf = series.map(({ label, points }) => [
    label,
    ...namedPercentiles(points).map((ms) => (ms === undefined ? "-" : showShort(ms))),
  ]);
  const table = simpleTable(["", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "p99.99 ms"], rowsOf);
  return (
    figure({
      heading: `Percentile spectrum${where}`,
      caption:
        "Each step to the right is another nine. Lines end where the sample does; bands, where few enough to see, are 95 % intervals between replications.",
      labels,
      svg: spectrum(series),
      more: `<details><summary>The same as a table</summary><div class="scroll">${table}</div></details>`,
    }) +
    figure({
      heading: `Share of requests that are slower${where}`,
      caption: "A plateau is a mixture: a few requests that meet something else.",
      labels,
      svg: ccdf(series),
    })
  );
}
