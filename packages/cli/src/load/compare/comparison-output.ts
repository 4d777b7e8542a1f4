import { extname } from "node:path";
import { checkWritable, writeResult } from "../../sim/output.ts";
import { CommandFailure } from "../../terminal/failure.ts";
import { paletteFor } from "../../terminal/palette.ts";
import type { OutputFlags } from "../command/load-flags.ts";
import type { ComparisonReport } from "./comparison-report.ts";

/** Before an hour of runs, not after it. Throws a {@link CommandFailure}. */
export function checkComparisonFiles(files: readonly string[]): void {
  for (const file of files) {
    if (!isJson(file) && !isHtml(file))
      throw new CommandFailure(
        `--out ${file}: a comparison is written as .json or .html`,
        "Name a file that ends so.",
      );
    checkWritable("--out", file);
  }
}

/** Prints the comparison in the form that was asked for, and writes the files. */
export async function putOutComparison(
  report: ComparisonReport,
  { json, out = [] }: OutputFlags,
): Promise<void> {
  process.stdout.write(json === true ? await jsonOf(report) : await textOf(report));
  for (const file of out)
    writeResult("--out", file, isHtml(file) ? await htmlOf(report) : await jsonOf(report));
}

async function textOf(report: ComparisonReport): Promise<string> {
  const { comparisonText } = await import("./comparison-text.ts");
  return comparisonText(report, paletteFor(process.stdout));
}

async function jsonOf(report: ComparisonReport): Promise<string> {
  const { comparisonJson } = await import("./comparison-json.ts");
  return `${JSON.stringify(comparisonJson(report), null, 2)}\n`;
}

async function htmlOf(report: ComparisonReport): Promise<string> {
  const { comparisonHtml } = await import("./comparison-html.ts");
  return comparisonHtml(report);
}

function isJson(file: string): boolean {
  return extname(file).toLowerCase() === ".json";
}

function isHtml(file: string): boolean {
  return extname(file).toLowerCase() === ".html";
}
