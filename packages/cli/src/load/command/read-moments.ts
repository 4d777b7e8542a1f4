import type { Readable } from "node:stream";
import { brokenHeader, CsvRows, cellsOf, delimiterOf, type Position } from "../../plan/csv-rows.ts";
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

const MEND = "Mend the line, or delete it.";

interface Moment {
  readonly atMs: number;
  readonly path: unknown;
}

/** Takes the lines of one format. */
interface LineTaker {
  line(text: string): void;
  /** There are no more. */
  cut(): void;
}

interface TakerSetup {
  readonly options: MomentOptions;
  readonly place: Place;
  readonly at: Position;
  readonly moments: Moment[];
}

/**
 * From CSV or JSON lines, packed with gzip or not. Lines without a time fail the trace with their place: a part of the load
 * would mislead.
 */
export async function readMoments(file: string, options: MomentOptions = {}): Promise<Moments> {
  const { open = openLog, duration = Number.POSITIVE_INFINITY } = options;
  const at: Position = { line: 0 };
  const place: Place = () => `${file === "-" ? "<stdin>" : file}:${Math.max(1, at.line)}`;
  const moments: Moment[] = [];
  let taker: LineTaker | undefined;
  await scanLines(file, open(file), {
    onLine(text) {
      at.line++;
      if (text === undefined) throw new CommandFailure(`${place()}: longer than 1 MiB`, MEND);
      const bare = at.line === 1 && text.startsWith("\ufeff") ? text.slice(1) : text;
      if (taker === undefined) {
        if (bare.trim() === "") return;
        const setup = { options, place, at, moments };
        taker = bare.startsWith("{") ? jsonTaker(bare, setup) : csvTaker(bare, setup);
      }
      taker.line(bare);
    },
  });
  taker?.cut();
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

/** Keeps moments of which the field of that name is the time; "": it has none. */
function keeper(
  timeName: string,
  { options, place, moments }: TakerSetup,
): (time: unknown, path: unknown) => void {
  const timeOf = timeReader(timeName, options, place);
  return (time, path) => {
    const atMs = timeOf(time);
    if (!Number.isFinite(atMs)) throw new CommandFailure(`${place()}: no time in it`, MEND);
    if (moments.length === MAX_REQUESTS)
      throw new CommandFailure(`${place()}: more than 2,000,000 requests`, "Cut the trace.");
    moments.push({ atMs, path });
  };
}

function csvTaker(first: string, setup: TakerSetup): LineTaker {
  const { place, at } = setup;
  const delimiter = delimiterOf(first);
  let keep: ((values: readonly string[]) => void) | undefined;
  return new CsvRows({
    delimiter,
    at,
    onRow(row) {
      const values = cellsOf(row, delimiter);
      if (keep === undefined) {
        const columns = columnsOf(values, setup);
        const add = keeper(columns.timeName, setup);
        keep = (cells) => add(cells[columns.time], cells[columns.path]);
        if (columns.hasHeader) return;
      }
      keep(values);
    },
    onBroken(reason) {
      if (keep === undefined) throw brokenHeader(place(), reason);
      throw new CommandFailure(`${place()}: ${reason}`, MEND);
    },
  });
}

interface Columns {
  /** The first row is a header. */
  readonly hasHeader: boolean;
  readonly time: number;
  readonly timeName: string;
  /** -1: there is none. */
  readonly path: number;
}

function columnsOf(first: readonly string[], { options, place }: TakerSetup): Columns {
  const names = first.map((cell) => cell.trim());
  const hasHeader = names.every((name) => name === "" || !/^[\d.+-]/.test(name));
  const written = hasHeader ? chooseTimeField(names, options, place) : (options.timeField ?? "1");
  const time = hasHeader ? names.indexOf(written) : Number(written) - 1;
  if (!(Number.isInteger(time) && time >= 0 && time < names.length))
    throw new CommandFailure(
      `${place()}: no column ${JSON.stringify(written)}`,
      hasHeader
        ? `Its columns are ${names.join(", ").slice(0, 200)}.`
        : `There is no header: give --time-field a number from 1 to ${names.length}.`,
    );
  const path = hasHeader ? names.findIndex((name) => PATH_NAME.test(name)) : -1;
  return { hasHeader, time, timeName: hasHeader ? written : "", path };
}

function jsonTaker(first: string, setup: TakerSetup): LineTaker {
  const { options, place } = setup;
  const record = parseJson(first);
  if (typeof record !== "object" || record === null)
    throw new CommandFailure(`${place()}: not a JSON object`, "Write one JSON object a line.");
  const names = Object.keys(record);
  const time = chooseTimeField(names, options, place);
  const path = names.find((name) => PATH_NAME.test(name));
  const add = keeper(time, setup);
  return {
    line(text) {
      if (text.trim() === "") return;
      const value = parseJson(text);
      if (typeof value !== "object" || value === null)
        throw new CommandFailure(`${place()}: not a JSON object`, MEND);
      add(fieldAt(value, time), path === undefined ? undefined : fieldAt(value, path));
    },
    cut() {},
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
