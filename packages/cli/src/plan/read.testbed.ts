import { Readable } from "node:stream";
import type { LatencyLog } from "./latency-log.ts";
import { type ReadOptions, readLatencies } from "./read-latencies.ts";

/** Reads texts as if they were files of those names. */
export function readTexts(
  files: Readonly<Record<string, string>>,
  options: ReadOptions = {},
): Promise<LatencyLog> {
  return readLatencies(Object.keys(files), {
    ...options,
    open: (file) => Readable.from([Buffer.from(files[file] ?? "")]),
  });
}

/** One text, in a file without a telling name. */
export function readText(text: string, options: ReadOptions = {}): Promise<LatencyLog> {
  return readTexts({ log: text }, options);
}

export function skipsOf(log: LatencyLog): string[] {
  return log.skips.map(({ reason, count, firstPlace }) => `${count} ${reason} at ${firstPlace}`);
}
