import type { Readable } from "node:stream";
import { cells } from "../../plan/csv-cells.ts";
import { delimiterOf } from "../../plan/csv-rows.ts";
import { fieldAt, parseJson } from "../../plan/json-lines-reader.ts";
import type { Place } from "../../plan/latency-log.ts";
import type { LatencyUnit } from "../../plan/latency-unit.ts";
import { openLog, scanLines } from "../../plan/scan-lines.ts";
import { chooseTimeField, timeReader } from "../../rehearse/trace-fields.ts";
import { CommandFailure } from "../../terminal/failure.ts";

const MAX_REQUESTS = 2_000_000;
const MAX_PATHS = 1_000;
const PATH_NAME = /^(?:path|uri|url|request_uri)$/i;

/** Planned moments of a recorded trace; unlike a rehearsal, it needs no sizes. */
export interface Moments {
  /** From the first one, ascending. */
  readonly plannedMs: Float64Array;
  /** How often each path was asked for; empty where the trace has none. */
  readonly paths: ReadonlyMap<string, number>;
}

export interface MomentOptions {
  readonly timeField?: string | undefined;
  readonly timeUnit?: LatencyUnit | undefined;
  /** What comes later is left out. */
  readonly duration?: number | undefined;
  /** For tests; default: the file, or standard input for `-`. */
  readonly open?: ((file: string) => Readable) | undefined;
}

interface Line {
  readonly time: unknown;
  readonly path: unknown;
}

/** From CSV or JSON lines. Lines without a time fail the trace with their place: a part of the load would mislead. */
export async function readMoments(file: string, options: MomentOptions = {}): Promise<Moments> {
  const { open = openLog, duration = Number.POSITIVE_INFINITY } = options;
  let line = 0;
  const place: Place = () => `${file === "-" ? "<stdin>" : file}:${Math.max(1, line)}`;
  let reader: TraceReader | undefined;
  const moments: { readonly atMs: number; readonly path: unknown }[] = [];
  await scanLines(file, open(file), {
    onLine(text) {
      line++;
      const bare = text?.trim() ?? "";
      if (bare === "" && text !== undefined) return;
      if (reader === undefined) {
        reader = readerOf(bare, options, place);
        if (reader.hasHeader) return;
      }
      const { time, path } = reader.line(bare);
      const atMs = reader.timeOf(time);
      if (!Number.isFinite(atMs))
        throw new CommandFailure(`${place()}: no time in it`, "Mend the line, or delete it.");
      if (moments.length === MAX_REQUESTS)
        throw new CommandFailure(`${place()}: more than 2,000,000 requests`, "Cut the trace.");
      moments.push({ atMs, path });
    },
  });
  moments.sort((a, b) => a.atMs - b.atMs);
  const startMs = moments[0]?.atMs ?? 0;
  const kept = moments.filter(({ atMs }) => atMs - startMs < duration);
  if (kept.length === 0)
    throw new CommandFailure(`${file}: no request in it`, "Name a trace that holds requests.");
  return {
    plannedMs: Float64Array.from(kept, ({ atMs }) => atMs - startMs),
    paths: countPaths(kept.map(({ path }) => path)),
  };
}

interface TraceReader {
  /** The first line is a header. */
  readonly hasHeader: boolean;
  readonly timeOf: (written: unknown) => number;
  line(text: string): Line;
}

function readerOf(first: string, options: MomentOptions, place: Place): TraceReader {
  if (first.startsWith("{")) return jsonReader(first, options, place);
  const delimiter = delimiterOf(first);
  const names = cells(first, delimiter).map((cell) => cell.trim());
  const hasHeader = names.every((name) => name === "" || !/^[\d.+-]/.test(name));
  const time = hasHeader ? chooseTimeField(names, options, place) : (options.timeField ?? "1");
  const column = hasHeader ? names.indexOf(time) : Number(time) - 1;
  if (!(column >= 0 && column < names.length))
    throw new CommandFailure(
      `${place()}: no column ${JSON.stringify(time)}`,
      hasHeader ? `Its columns are ${names.join(", ").slice(0, 200)}.` : "Give its number, from 1.",
    );
  const pathColumn = hasHeader ? names.findIndex((name) => PATH_NAME.test(name)) : -1;
  return {
    hasHeader,
    timeOf: timeReader(hasHeader ? time : "", options, place),
    line(text) {
      const values = cells(text, delimiter);
      return { time: values[column], path: values[pathColumn] };
    },
  };
}

function jsonReader(first: string, options: MomentOptions, place: Place): TraceReader {
  const record = parseJson(first);
  if (typeof record !== "object" || record === null)
    throw new CommandFailure(`${place()}: not a JSON object`, "Write one JSON object a line.");
  const names = Object.keys(record);
  const time = chooseTimeField(names, options, place);
  const path = names.find((name) => PATH_NAME.test(name));
  return {
    hasHeader: false,
    timeOf: timeReader(time, options, place),
    line(text) {
      const value = parseJson(text);
      const row = typeof value === "object" && value !== null ? value : {};
      return {
        time: fieldAt(row, time),
        path: path === undefined ? undefined : fieldAt(row, path),
      };
    },
  };
}

/** The most frequent ones, when there are more than can be told apart. */
function countPaths(paths: readonly unknown[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const path of paths) {
    if (typeof path !== "string" || path.trim() === "") continue;
    counts.set(path.trim(), (counts.get(path.trim()) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return new Map(sorted.slice(0, MAX_PATHS));
}
