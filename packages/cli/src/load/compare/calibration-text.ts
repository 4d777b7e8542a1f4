import { showPercent, wrap } from "../../plan/figures.ts";
import type { Palette } from "../../terminal/palette.ts";
import type { Calibration, NoiseFloor } from "./calibration.ts";
import type { RunsReport } from "./comparison-report.ts";
import { describeLoad, steadyNotes } from "./describe-comparison.ts";
import { QUANTITIES } from "./quantity.ts";
import { showSize, showValue } from "./show-quantity.ts";

const WIDTH = 80;

/** What a calibration found, for a terminal. */
export function calibrationText(
  report: RunsReport,
  { runs, floors, host }: Calibration,
  { file, palette }: { readonly file: string; readonly palette: Palette },
): string {
  const { comparison, partial, nameA } = report;
  const called = comparison.compared.filter(
    ({ verdict }) => verdict.kind === "worse" || verdict.kind === "better",
  );
  const kept =
    partial === ""
      ? `Kept in ${file}: later comparisons made with the same options refuse thresholds below it.`
      : `Partial: ${partial} It was not kept.`;
  const parts = [
    [
      palette.bold(wrap(`${nameA} against itself, ${runs} + ${runs} runs on ${host}`, WIDTH)),
      palette.dim(wrap(describeLoad(report.setup), WIDTH)),
    ],
    [
      palette.bold(row("", "median", "noise floor")),
      ...floors.map((floor) => row(floor.name, ...figures(floor))),
    ],
    called.length === 0
      ? []
      : [
          palette.yellow(
            wrap(
              `The same thing came out ${called.map(({ name, verdict }) => `${verdict.kind} in ${name}`).join(", ")}: something on this host changed meanwhile. Calibrate again when it is quiet.`,
              WIDTH,
            ),
          ),
        ],
    [wrap(kept, WIDTH)],
    [
      palette.dim(
        wrap(
          `Noise floor: the far end of the ${showPercent(comparison.confidence)} interval of a change that is none. Four times the runs halve it.`,
          WIDTH,
        ),
      ),
      ...steadyNotes(report).map((note) => palette.dim(wrap(note, WIDTH))),
    ],
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function figures({ name, change, median }: NoiseFloor): [string, string] {
  const { unit, scale } = QUANTITIES[name];
  return [showValue(median, unit), Number.isFinite(change) ? showSize(change, scale) : "unbounded"];
}

function row(name: string, median: string, floor: string): string {
  return `${name.padEnd(8)}${median.padStart(14)}${floor.padStart(16)}`.trimEnd();
}
