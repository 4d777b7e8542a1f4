import type { Readable } from "node:stream";
import { CommandFailure } from "../terminal/failure.ts";
import { accessLogReader } from "./access-log-reader.ts";
import { csvReader } from "./csv-reader.ts";
import { hlogReader } from "./hlog-reader.ts";
import { jsonLinesReader } from "./json-lines-reader.ts";
import { LatencyCollector } from "./latency-collector.ts";
import type { LatencyLog, LogFormat, LogOptions, LogReader, ReaderSetup } from "./latency-log.ts";
import { prometheusReader } from "./prometheus-reader.ts";
import { openLog, scanLines } from "./scan-lines.ts";

export interface ReadingProgress {
  readonly file: string;
  readonly lines: number;
  readonly bytes: number;
  readonly latencies: number;
}

export interface ReadOptions extends LogOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ReadingProgress) => void) | undefined;
  /** For tests and embedders; default: the file, or standard input for `-`. */
  readonly open?: ((file: string) => Readable) | undefined;
}

/**
 * Latencies of one or several logs, added up, in bounded memory however long they are.
 *
 * Fails with a `CommandFailure` that names place, reason and remedy; single bad lines are skipped and counted.
 */
export async function readLatencies(
  files: readonly string[],
  options: ReadOptions = {},
): Promise<LatencyLog> {
  const at = { file: "", line: 0 };
  const place = (): string => `${at.file}:${Math.max(1, at.line)}`;
  const collector = new LatencyCollector(place);
  const setup: ReaderSetup = { options, sink: collector, place, at };
  const formats = new Set<LogFormat>();
  let bytes = 0;
  let lines = 0;
  for (const file of files) {
    at.file = file === "-" ? "<stdin>" : file;
    at.line = 0;
    let reader: LogReader | undefined;
    await scanLines(file, (options.open ?? openLog)(file), {
      signal: options.signal,
      onLine(text) {
        at.line++;
        lines++;
        if (text === undefined) {
          reader?.cut?.();
          return collector.skip("longer than 1 MiB");
        }
        const bare = at.line === 1 && text.startsWith("\ufeff") ? text.slice(1) : text;
        if (reader === undefined) {
          if (bare.trim() === "") return;
          const format = options.format ?? detectFormat(file, bare, options);
          formats.add(format);
          reader = createReader(format, bare, setup);
        }
        reader.line(bare);
      },
      onBytes(count) {
        bytes += count;
        options.onProgress?.({ file: at.file, lines, bytes, latencies: collector.count });
      },
    });
    if (options.signal?.aborted === true)
      throw new CommandFailure("stopped before the log was read", "", 130);
    if (reader === undefined)
      throw new CommandFailure(`${at.file}: nothing in it`, "Name a log that holds a latency.");
    reader.end();
  }
  return collector.finish([...formats]);
}

const FORMAT_OF_SUFFIX: ReadonlyMap<string, LogFormat> = new Map([
  ["csv", "csv"],
  ["tsv", "csv"],
  ["jsonl", "json"],
  ["ndjson", "json"],
  ["hlog", "hlog"],
  ["prom", "prometheus"],
]);

/** By what the user says, the file's name, and its first line that holds something. */
function detectFormat(file: string, first: string, options: LogOptions): LogFormat {
  if (options.logFormat !== undefined) return options.logFormat.includes("%") ? "envoy" : "nginx";
  const name = file.replace(/(?:\.\d+)?(?:\.gz)?$/i, "");
  const named = FORMAT_OF_SUFFIX.get(/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? "");
  if (named !== undefined) return named;
  if (/^#\[|^"StartTimestamp"|HIST/.test(first)) return "hlog";
  if (/^# (?:HELP|TYPE|EOF|UNIT) |^[\w:]+_bucket\{/.test(first)) return "prometheus";
  if (first.startsWith("{")) return "json";
  if (/^\[[\d-]+T[^\]]*\] "/.test(first)) return "envoy";
  if (/\[\d{2}\/\w{3}\/\d{4}:/.test(first)) return "nginx";
  return "csv";
}

function createReader(format: LogFormat, first: string, setup: ReaderSetup): LogReader {
  // Not a text at all: better said at once than after a million odd lines.
  if (first.includes("\u0000"))
    throw new CommandFailure(
      `${setup.place()}: this is not a text file`,
      "Unpack it first, and give the output as -. Only gzip is unpacked here.",
    );
  switch (format) {
    case "csv":
      return csvReader(setup);
    case "json":
      if (first.trim() === "{")
        throw new CommandFailure(
          `${setup.place()}: a JSON object over several lines, and here each line is one`,
          "Join them: `jq -c . FILE | bobtail plan -`. Of a `bobtail load` result the times are in its .hlog: `bobtail load report FILE.json --out FILE.hlog`.",
        );
      return jsonLinesReader(setup);
    case "hlog":
      return hlogReader(setup);
    case "prometheus":
      return prometheusReader(setup);
    case "nginx":
    case "envoy":
      return accessLogReader(setup, format);
  }
}
