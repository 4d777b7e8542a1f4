import { readFileSync, statSync } from "node:fs";
import { CommandFailure } from "../../terminal/failure.ts";
import { parseResult } from "./read-run-json.ts";
import type { LoadResult } from "./run-record.ts";

/** An hour of 1,024 intervals takes about 2 MB. */
const MAX_BYTES = 512 * 1_024 * 1_024;
const REMEDY = "Name a file that `bobtail load --out` wrote: .json or .hlog.";

/** A stored result, by its content. Throws a {@link CommandFailure} with place, reason and remedy for anything else. */
export async function readResult(file: string): Promise<LoadResult> {
  const ending = /\.(csv|html?)$/i.exec(file)?.[0];
  const text = readText(file);
  if (ending !== undefined)
    throw new CommandFailure(`${file}: ${ending} files are written and not read back`, REMEDY);
  if (text.startsWith("\u001f"))
    throw new CommandFailure(`${file}: packed with gzip`, `Unpack it: gunzip ${file}`);
  if (text.startsWith("#") || /\.hlog$/i.test(file)) {
    const { parseRunHlog } = await import("./read-run-hlog.ts");
    return { kind: "run", run: parseRunHlog(file, text) };
  }
  return parseResult(file, text);
}

function readText(file: string): string {
  try {
    if (statSync(file).size > MAX_BYTES)
      throw new CommandFailure(`${file}: larger than 512 MiB`, REMEDY);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    const reason =
      code === "ENOENT"
        ? "there is no such file"
        : code === "EISDIR"
          ? "this is a directory"
          : `it cannot be read (${code})`;
    throw new CommandFailure(`${file}: ${reason}`, REMEDY);
  }
}
