import { readFileSync } from "node:fs";

/** What every program of a library target is told: a JSON file, whose path is its only argument. */
export interface ProgramSettings {
  readonly port: number;
  readonly backends: readonly string[];
}

/** The file was written by the driver of the same version, so its shape is known. */
export function readSettings<T extends ProgramSettings>(): T {
  return JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as T;
}
