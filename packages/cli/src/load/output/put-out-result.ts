import { paletteFor } from "../../terminal/palette.ts";
import { writeOutFiles } from "./out-files.ts";
import { resultText } from "./result-text.ts";
import { resultJson } from "./run-json.ts";
import type { LoadResult } from "./run-record.ts";

const DEFAULT_COLUMNS = 80;

export interface PutOutOptions {
  readonly json?: boolean | undefined;
  readonly out?: readonly string[] | undefined;
  /** Of the tool. */
  readonly version: string;
  /** As text it has been printed while it was made; default false. */
  readonly isTold?: boolean | undefined;
}

/** Prints a result in the form that was asked for, and writes its files. */
export async function putOutResult(result: LoadResult, options: PutOutOptions): Promise<void> {
  const { json = false, out = [], version, isTold = false } = options;
  const { stdout } = process;
  if (json) stdout.write(`${JSON.stringify(resultJson(result, version), null, 2)}\n`);
  else if (!isTold) {
    const columns = stdout.columns ?? DEFAULT_COLUMNS;
    stdout.write(resultText(result, { palette: paletteFor(stdout), columns }));
  }
  await writeOutFiles(out, result, version);
}
