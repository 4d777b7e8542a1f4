import { accessSync, constants, lstatSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CommandFailure } from "../terminal/failure.ts";
import { paletteFor } from "../terminal/palette.ts";
import type { SimReport } from "./sim-report.ts";

export interface OutputFlags {
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly html?: string;
}

/** Prints the report in the form that was asked for; its charts go to the file. */
export async function putOut(report: SimReport, flags: OutputFlags): Promise<void> {
  process.stdout.write(await textOf(report, flags));
  if (flags.html === undefined) return;
  const { htmlReport } = await import("./html-report.ts");
  writeResult("--html", flags.html, htmlReport(report));
}

async function textOf(report: SimReport, flags: OutputFlags): Promise<string> {
  if (flags.json === true) {
    const { simJson } = await import("./sim-json.ts");
    return `${JSON.stringify(simJson(report), null, 2)}\n`;
  }
  if (flags.csv === true) {
    const { simCsv } = await import("./sim-csv.ts");
    return simCsv(report);
  }
  const { simText } = await import("./sim-text.ts");
  return simText(report, paletteFor(process.stdout));
}

/** Before an hour of work, not after it: a file that cannot be written is refused. */
export function checkWritable(option: string, file: string | undefined): void {
  if (file === undefined) return;
  try {
    const existing = statSync(file, { throwIfNoEntry: false });
    if (existing?.isDirectory() === true)
      throw new CommandFailure(`${option} ${file}: this is a directory`, "Name a file inside it.");
    accessSync(existing === undefined ? dirname(placeOf(file)) : file, constants.W_OK);
  } catch (error) {
    throw error instanceof CommandFailure ? error : cannotWrite(option, file, error);
  }
}

/** Where a file that is not there would be made: a link may point to a place without one. */
function placeOf(file: string): string {
  const place = resolve(file);
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? placeOf(resolve(dirname(place), readlinkSync(place))) : place;
}

export function writeResult(option: string, file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw cannotWrite(option, file, error);
  }
}

function cannotWrite(option: string, file: string, error: unknown): CommandFailure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  const reason =
    code === "ENOENT"
      ? "there is no such directory"
      : code === "EACCES"
        ? "permission denied"
        : `it cannot be written (${code})`;
  return new CommandFailure(`${option} ${file}: ${reason}`, "Name a file that can be written.");
}
