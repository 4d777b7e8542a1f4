import { showCount, showPercent, wrap } from "../../plan/figures.ts";
import type { Palette } from "../../terminal/palette.ts";
import type { ComparedQuantity } from "./compare-runs.ts";
import type { SingleQuantity } from "./compare-singles.ts";
import type { ComparisonReport, RunsReport, SinglesReport } from "./comparison-report.ts";
import {
  describeLoad,
  headOf,
  notesOf,
  singleCells,
  singlesHead,
  summaryOf,
} from "./describe-comparison.ts";
import { dotStrips } from "./dot-strip.ts";
import { QUANTITIES } from "./quantity.ts";
import { showChange, showShiftInterval, showValue, showVerdict } from "./show-quantity.ts";

const WIDTH = 80;
const NAME_WIDTH = 8;
const STRIP_WIDTH = 44;

/** A comparison for a terminal, at most 80 columns wide. */
export function comparisonText(report: ComparisonReport, palette: Palette): string {
  const parts = report.kind === "runs" ? runsParts(report, palette) : singlesParts(report, palette);
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function runsParts(report: RunsReport, palette: Palette): string[][] {
  const { comparison, partial } = report;
  return [
    [
      palette.bold(wrap(headOf(report), WIDTH)),
      palette.dim(wrap(describeLoad(report.setup), WIDTH)),
    ],
    partial === "" ? [] : [palette.yellow(wrap(`Partial: ${partial}`, WIDTH))],
    ...comparison.compared.map((one) => quantityLines(one, palette)),
    comparison.leftOut.map(({ name, needed }) =>
      palette.dim(
        wrap(
          `${name.padEnd(NAME_WIDTH)}not compared: it needs ${showCount(needed)} requests a run`,
          WIDTH,
        ),
      ),
    ),
    [wrap(summaryOf(report), WIDTH)],
    notesOf(report).map((text) => palette.dim(wrap(text, WIDTH))),
  ];
}

function quantityLines(one: ComparedQuantity, palette: Palette): string[] {
  const { name, verdict, valuesA, valuesB, medianA, medianB, shift, threshold } = one;
  const { unit, scale } = QUANTITIES[name];
  const style = {
    worse: palette.red,
    better: palette.green,
    "no-difference": palette.green,
    "cannot-tell": palette.yellow,
  }[verdict.kind];
  const indent = " ".repeat(NAME_WIDTH);
  const said = wrap(showVerdict(name, verdict, threshold), WIDTH - NAME_WIDTH);
  const change = shift.estimate === undefined ? "?" : showChange(shift.estimate, scale);
  const interval = showShiftInterval(shift, scale);
  const strips = dotStrips([valuesA, valuesB], STRIP_WIDTH).map(
    (strip, i) => `${indent}${i === 0 ? "A" : "B"} ${strip}`,
  );
  const finite = [...valuesA, ...valuesB].filter(Number.isFinite);
  const scaleText =
    finite.length === 0
      ? ""
      : ` ${showValue(Math.min(...finite), unit)} to ${showValue(Math.max(...finite), unit)}`;
  return [
    `${palette.bold(name.padEnd(NAME_WIDTH))}${style(said).replaceAll("\n", `\n${indent}`)}`,
    `${indent}${showValue(medianA, unit)} -> ${showValue(medianB, unit)}, ${change} ${interval}, p ${showP(one.adjustedP)}`,
    ...strips.map((strip, i) => (i === 0 ? strip + scaleText : strip)),
  ];
}

/** Two digits; never a 0 that is none. */
function showP(p: number): string {
  return p < 0.0001 ? "<0.0001" : p.toPrecision(2).replace(/^1\.0$/, "1");
}

function singlesParts(report: SinglesReport, palette: Palette): string[][] {
  const { singles } = report;
  const row = (cells: readonly string[]): string => {
    const [name = "", ...rest] = cells;
    return `${name.padEnd(NAME_WIDTH)}${rest.map((text, i) => text.padStart(i < 2 ? 14 : i === 2 ? 12 : 26)).join("")}`.trimEnd();
  };
  return [
    [
      palette.bold(wrap(singlesHead(report), WIDTH)),
      palette.yellow("single runs: describes these two runs only"),
      ...report.warnings.map((text) => palette.red(wrap(text, WIDTH))),
      palette.dim(wrap(describeLoad(report.setup), WIDTH)),
    ],
    [
      palette.bold(
        row(["", "A", "B", "change", singles.withoutIntervals === undefined ? "[95 %]" : ""]),
      ),
      ...singles.quantities.map((one) => row(singleRow(one))),
    ],
    [palette.dim(wrap(intervalNote(report), WIDTH))],
  ];
}

function singleRow(one: SingleQuantity): string[] {
  const { name, interval } = one;
  const shown = interval === undefined ? "" : showShiftInterval(interval, QUANTITIES[name].scale);
  return [...singleCells(one), shown];
}

function intervalNote({ singles }: SinglesReport): string {
  const next =
    "How much the next runs differ, two runs cannot tell: give several a side, or --compare A B with URLs.";
  return singles.withoutIntervals === undefined
    ? `Intervals: ${singles.blocks} stretches of ${singles.blockMs / 1_000} s drawn again 1,000 times; they miss about twice as often as the ${showPercent(0.05)} they name. ${next}`
    : `No intervals: ${singles.withoutIntervals}. ${next}`;
}
