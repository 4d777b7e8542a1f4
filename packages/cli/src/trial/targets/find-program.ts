import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { FoundProgram, MissingProgram } from "./target.ts";

const VERSION_TIMEOUT_MS = 5_000;

/** Servers live where the PATH of a plain user does not look. */
const SYSTEM_FOLDERS = [
  "/usr/local/sbin",
  "/usr/sbin",
  "/sbin",
  "/usr/local/bin",
  "/opt/homebrew/bin",
];

export interface ProgramSearch {
  /** On the PATH: "nginx". */
  readonly command: string;
  /** Names the file; looked at first, and alone when it is set: `BOBTAIL_NGINX`. */
  readonly variable: string;
  readonly versionArgs: readonly string[];
  /** Its first group is the version. */
  readonly versionPattern: RegExp;
  readonly remedy: string;
  /** Other places, looked at last. */
  readonly elsewhere?: () => Promise<readonly string[]>;
}

/** Runs the program to learn its version: a file that does not run is not found. Never rejects. */
export async function findProgram(search: ProgramSearch): Promise<FoundProgram | MissingProgram> {
  const { command, variable, remedy } = search;
  const named = process.env[variable];
  if (named !== undefined && named !== "") {
    const tried = await tryProgram(named, search);
    return typeof tried === "string"
      ? { missing: `${variable} names ${named}: ${tried}`, remedy: `Correct or unset ${variable}.` }
      : tried;
  }
  let broken: string | undefined;
  for (const path of placesOf(command)) {
    const tried = await tryProgram(path, search);
    if (typeof tried !== "string") return tried;
    broken ??= `${path}: ${tried}`;
  }
  for (const path of (await search.elsewhere?.()) ?? []) {
    const tried = await tryProgram(path, search);
    if (typeof tried !== "string") return tried;
    broken ??= `${path}: ${tried}`;
  }
  const missing = broken ?? `${command} is not installed`;
  return { missing, remedy: `${remedy} Or name its file: ${variable}=/path/to/${command}` };
}

/** What a command prints, stdout and stderr together; undefined when it fails or takes too long. */
export function outputOf(command: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: VERSION_TIMEOUT_MS }, (error, stdout, stderr) => {
      resolve(error === null ? `${stdout}${stderr}` : undefined);
    });
  });
}

function placesOf(command: string): readonly string[] {
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...SYSTEM_FOLDERS];
  const paths = folders.filter((folder) => folder !== "").map((folder) => join(folder, command));
  return [...new Set(paths)].filter((path) => notRunnable(path) === undefined);
}

function notRunnable(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return "is not a file";
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    return code === "EACCES" ? "may not be run by this user" : "does not exist";
  }
}

/** @returns the program, or why it cannot be used. */
async function tryProgram(path: string, search: ProgramSearch): Promise<FoundProgram | string> {
  const reason = notRunnable(path);
  if (reason !== undefined) return `it ${reason}`;
  const output = await outputOf(path, search.versionArgs);
  const version = output === undefined ? undefined : search.versionPattern.exec(output)?.[1];
  return version === undefined
    ? `it does not tell its version (\`${[path, ...search.versionArgs].join(" ")}\`)`
    : { version, path };
}
