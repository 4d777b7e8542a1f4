import { extname } from "node:path";
import { checkWritable, writeResult } from "../../sim/output.ts";
import { CommandFailure } from "../../terminal/failure.ts";
import { type LoadResult, runsOf } from "./run-record.ts";

const KINDS = [".json", ".html", ".csv", ".hlog"] as const;
type OutKind = (typeof KINDS)[number];

/** Before the run, not after it: what cannot be written is refused. Throws a {@link CommandFailure}. */
export function checkOutFiles(files: readonly string[], resultKind: LoadResult["kind"]): void {
  for (const file of files) {
    const kind = kindOf(file);
    if (kind === ".hlog" && resultKind !== "run")
      throw new CommandFailure(
        `--out ${file}: a histogram log holds one run, and here are several`,
        "Write .json, .html or .csv.",
      );
    checkWritable("--out", file);
  }
}

/** Each file in the form that its name asks for. */
export async function writeOutFiles(
  files: readonly string[],
  result: LoadResult,
  version: string,
): Promise<void> {
  for (const file of files)
    writeResult("--out", file, await contentOf(kindOf(file), result, version));
}

async function contentOf(kind: OutKind, result: LoadResult, version: string): Promise<string> {
  switch (kind) {
    case ".json": {
      const { resultJson } = await import("./run-json.ts");
      return `${JSON.stringify(resultJson(result, version), null, 1)}\n`;
    }
    case ".html": {
      const { loadHtml } = await import("./load-html.ts");
      return loadHtml(result, version);
    }
    case ".csv": {
      const { runsCsv } = await import("./run-csv.ts");
      return runsCsv(runsOf(result));
    }
    case ".hlog": {
      const { runHlog } = await import("./run-hlog.ts");
      return runsOf(result).slice(0, 1).map(runHlog).join("");
    }
  }
}

function kindOf(file: string): OutKind {
  const kind = KINDS.find((one) => one === extname(file).toLowerCase());
  if (kind === undefined)
    throw new CommandFailure(
      `--out ${file}: its ending does not say what to write`,
      `Name a file that ends in ${KINDS.join(", ")}.`,
    );
  return kind;
}
