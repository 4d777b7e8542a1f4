import { showCount, wrap } from "../../plan/figures.ts";
import { AREA, drawing, escapeHtml, round } from "../../sim/chart-frame.ts";
import { linearScale } from "../../sim/chart-scale.ts";
import { figure, htmlPage } from "../../sim/html-page.ts";
import { shortened, simpleTable } from "../../sim/html-table.ts";
import type { ComparedQuantity } from "./compare-runs.ts";
import type { ComparisonReport, RunsReport, SinglesReport } from "./comparison-report.ts";
import {
  describeLoad,
  headOf,
  notesOf,
  singleCells,
  singlesHead,
  summaryOf,
} from "./describe-comparison.ts";
import { QUANTITIES } from "./quantity.ts";
import { showChange, showShiftInterval, showValue, showVerdict } from "./show-quantity.ts";

const ROW_HEIGHT = 26;
const DOT = 4;

/** A comparison as one HTML file: no script, nothing loaded. */
export function comparisonHtml(report: ComparisonReport): string {
  const title = report.kind === "runs" ? headOf(report) : singlesHead(report);
  const body = report.kind === "runs" ? runsBody(report) : singlesBody(report);
  return htmlPage({ title: shortened(title, 300), version: report.version, body });
}

function runsBody(report: RunsReport): string {
  const { comparison, partial } = report;
  const rows = comparison.compared.map((one) => {
    const { unit, scale } = QUANTITIES[one.name];
    const { estimate } = one.shift;
    return [
      one.name,
      showVerdict(one.name, one.verdict, one.threshold),
      showValue(one.medianA, unit),
      showValue(one.medianB, unit),
      estimate === undefined ? "?" : showChange(estimate, scale),
      showShiftInterval(one.shift, scale),
      one.adjustedP.toPrecision(2),
    ];
  });
  const leftOut = comparison.leftOut.map(
    ({ name, needed }) => `${name} was not compared: it needs ${showCount(needed)} requests a run.`,
  );
  return [
    ...(partial === "" ? [] : [paragraph(`Partial: ${partial}`, "warn")]),
    paragraph(summaryOf(report)),
    paragraph(describeLoad(report.setup), "dim"),
    `<div class="scroll">${simpleTable(["", "verdict", "A", "B", "change", "interval", "p"], rows)}</div>`,
    ...comparison.compared.map(dotFigure),
    ...[...leftOut, ...notesOf(report)].map((text) => paragraph(text, "dim")),
  ].join("\n");
}

function singlesBody(report: SinglesReport): string {
  const rows = report.singles.quantities.map((one) => [
    ...singleCells(one),
    one.interval === undefined ? "-" : showShiftInterval(one.interval, QUANTITIES[one.name].scale),
  ]);
  return [
    paragraph("single runs: describes these two runs only", "warn"),
    ...report.warnings.map((text) => paragraph(text, "warn")),
    paragraph(describeLoad(report.setup), "dim"),
    `<div class="scroll">${simpleTable(["", "A", "B", "change", "interval"], rows)}</div>`,
  ].join("\n");
}

/** Each run as a dot, A above B; unbounded runs at the right end, as crosses. */
function dotFigure(one: ComparedQuantity): string {
  const { name, valuesA, valuesB, threshold, verdict } = one;
  const { unit } = QUANTITIES[name];
  const finite = [...valuesA, ...valuesB].filter(Number.isFinite);
  const [min, max] = [Math.min(...finite), Math.max(...finite)];
  if (!(max > min)) return "";
  const factor = unit === "share" ? 100 : 1;
  const scale = linearScale({
    min: min * factor,
    max: max * factor,
    from: AREA.left,
    to: AREA.right - 24,
  });
  const marks = [valuesA, valuesB]
    .map((values, side) =>
      values
        .map((value) =>
          mark(Number.isFinite(value) ? scale.place(value * factor) : AREA.right - 6, side, value),
        )
        .join(""),
    )
    .join("");
  const bottom = 3 * ROW_HEIGHT;
  const ticks = scale.ticks
    .map(({ value, label }) => {
      const at = round(scale.place(value));
      return `<path class="g" d="M${at} 8V${bottom}"/><text x="${at}" y="${bottom + 16}" text-anchor="middle">${escapeHtml(label)}</text>`;
    })
    .join("");
  const names = ["A", "B"]
    .map((side, i) => `<text x="${AREA.left - 24}" y="${rowAt(i) + 4}">${side}</text>`)
    .join("");
  const label = { ms: "ms", share: "% of the requests", "per-second": "answers a second" }[unit];
  return figure({
    heading: `${name}: ${showVerdict(name, verdict, threshold)}`,
    caption: `Each dot is a run, in ${label}. A cross at the right end: unbounded.`,
    labels: [],
    svg: drawing(
      {
        id: `q-${name.replaceAll(".", "-")}`,
        title: `${name} of every run`,
        description: wrap(
          `A ${valuesA.map((v) => showValue(v, unit)).join(", ")}; B ${valuesB.map((v) => showValue(v, unit)).join(", ")}`,
          400,
        ),
        height: bottom + 26,
      },
      ticks + names + marks,
    ),
  });
}

function mark(x: number, side: number, value: number): string {
  const [at, y] = [round(x), rowAt(side)];
  return Number.isFinite(value)
    ? `<circle class="f${side}" cx="${at}" cy="${y}" r="${DOT}" opacity=".7"/>`
    : `<path class="l s${side}" d="M${at - DOT} ${y - DOT}L${at + DOT} ${y + DOT}M${at - DOT} ${y + DOT}L${at + DOT} ${y - DOT}"/>`;
}

function rowAt(side: number): number {
  return ROW_HEIGHT * (side + 1);
}

function paragraph(text: string, style = ""): string {
  return `<p${style === "" ? "" : ` class="${style}"`}>${escapeHtml(shortened(text, 600))}</p>`;
}
