import type { Histogram } from "bobtail/engine";
import { showCount, showMs, showPercent, showQuantile } from "../../plan/figures.ts";
import type { Palette } from "../../terminal/palette.ts";
import { failedCount, infiniteCount, type LoadSection } from "../load-report.ts";
import {
  type Figure,
  figureOf,
  headlineCount,
  headlineFigure,
  REPORT_QUANTILES,
  showFigure,
} from "./percentiles.ts";

const LABEL_WIDTH = 8;
const HEADLINE_WIDTH = 25;
const CLOCK_WIDTH = 14;

/** Percentiles downwards; beside the headline the same of the requests that ended well, and of the two clocks that make it up. */
export function percentileTable(section: LoadSection, palette: Palette): string[] {
  const clocks: readonly (readonly [string, Histogram])[] = [
    ["success only", section.completed],
    ["service", section.service],
    ["send lag", section.sendLag],
  ];
  const head = `${"".padEnd(LABEL_WIDTH)}${"response".padStart(HEADLINE_WIDTH)}${clocks.map(([name]) => name.padStart(CLOCK_WIDTH)).join("")}`;
  const lines = [palette.bold(head)];
  for (const quantile of REPORT_QUANTILES) {
    const headline = headlineFigure(section, quantile);
    if (headline.kind === "unsupported") {
      lines.push(
        `  ${showQuantile(quantile)} ${showFigure(headline)}; this run has ${showCount(headlineCount(section))}`,
      );
      break;
    }
    const cells = clocks.map(([, histogram]) =>
      cell(figureOf(histogram, quantile), CLOCK_WIDTH, palette),
    );
    lines.push(
      `${`  ${showQuantile(quantile)}`.padEnd(LABEL_WIDTH)}${cell(headline, HEADLINE_WIDTH, palette)}${cells.join("")}`,
    );
  }
  const longest = clocks.map(([, histogram]) => maxOf(histogram).padStart(CLOCK_WIDTH));
  lines.push(
    `${"  max".padEnd(LABEL_WIDTH)}${headlineMax(section).padStart(HEADLINE_WIDTH)}${longest.join("")}`,
  );
  if (lines.some((line) => line.includes("~")))
    lines.push(
      palette.dim("  ~ fewer than 100 requests were slower: it will differ in the next run"),
    );
  return lines;
}

/** The clocks of which the headline says nothing: new connections, first bytes, waits. */
export function clockLines(
  section: LoadSection,
  { sse, palette }: { readonly sse: boolean; readonly palette: Palette },
): string[] {
  const rows: readonly (readonly [string, Histogram])[] = [
    ["connect", section.connect],
    ["wait for a connection", section.queueing],
    [sse ? "first event" : "first byte", section.firstByte],
    ["between events", section.eventGap],
    ["until it failed", section.failed],
  ];
  const line = (cells: readonly string[]): string => {
    const [name = "", ...rest] = cells;
    return `  ${name.padEnd(22)}${rest.map((text) => text.padStart(CLOCK_WIDTH)).join("")}`;
  };
  const body = rows
    .filter(([, { count }]) => count > 0)
    .map(([name, histogram]) =>
      line([
        name,
        showCount(histogram.count),
        dashed(figureOf(histogram, 0.5)),
        dashed(figureOf(histogram, 0.99)),
        maxOf(histogram),
      ]),
    );
  return body.length === 0 ? [] : [palette.bold(line(["", "count", "p50", "p99", "max"])), ...body];
}

/** The share of the planned requests that did not end well; those that a stop left out do not count. */
export function failedText({ ledger }: Pick<LoadSection, "ledger">): string {
  const count = ledger.planned - ledger.unsent;
  const failed = failedCount(ledger);
  return count === 0 ? "nothing was sent" : `${showPercent(failed / count)} failed`;
}

function cell(figure: Figure, width: number, palette: Palette): string {
  if (figure.kind === "unsupported") return "-".padStart(width);
  // Percentiles of few requests are marked in words of one sign, since grey is not seen everywhere.
  const text = `${figure.isFirm ? "" : "~"}${showFigure(figure)}`.padStart(width);
  if (figure.kind === "unbounded") return palette.red(text);
  return figure.isFirm ? text : palette.dim(text);
}

function dashed(figure: Figure): string {
  return figure.kind === "unsupported" ? "-" : showFigure(figure);
}

function headlineMax(section: LoadSection): string {
  const { all, ledger } = section;
  if (infiniteCount(section) > 0) return "unbounded";
  if (all.count === 0) return "-";
  return `${ledger.timeouts + ledger.openAtEnd > 0 ? ">= " : ""}${showMs(all.max / 1_000)}`;
}

function maxOf(histogram: Histogram): string {
  return histogram.count === 0 ? "-" : showMs(histogram.max / 1_000);
}
