import type { Readable } from "node:stream";
import { cells, DELIMITERS } from "../plan/csv-reader.ts";
import { fieldAt, parseJson } from "../plan/json-lines-reader.ts";
import type { Place } from "../plan/latency-log.ts";
import { openLog, scanLines } from "../plan/scan-lines.ts";
import { valueReader } from "../plan/value-reader.ts";
import { CommandFailure } from "../terminal/failure.ts";
import type { Trace, TraceOptions } from "./trace.ts";
import { chooseFields, measureOf, timeReader } from "./trace-fields.ts";

/** Requests that are kept; an hour at 550 a second. */
const MAX_REQUESTS = 2_000_000;

export interface ReadTraceOptions extends TraceOptions {
  /** For tests and embedders; default: the file, or standard input for `-`. */
  readonly open?: ((file: string) => Readable) | undefined;
  /** Default 2,000,000. */
  readonly maxRequests?: number | undefined;
}

/** The cells or the object of a line; a text: why it has none. */
type Row = { readonly time: unknown; readonly size: unknown } | string;

interface Reader {
  readonly timeField: string;
  readonly sizeField: string;
  /** The first line is a header. */
  readonly hasHeader: boolean;
  row(text: string): Row;
}

/**
 * A recorded trace from CSV or JSON lines: when each request came, and its size or latency. Sorted by arrival.
 *
 * Single bad lines are skipped and counted. Fails with a `CommandFailure` (place, reason, remedy) where the file as a
 * whole makes no sense.
 */
export async function readTrace(file: string, options: ReadTraceOptions = {}): Promise<Trace> {
  const { open = openLog, maxRequests = MAX_REQUESTS } = options;
  const shown = file === "-" ? "<stdin>" : file;
  let line = 0;
  const place: Place = () => `${shown}:${Math.max(1, line)}`;
  const kept = new Requests(options, place, maxRequests);
  let reader: Reader | undefined;
  await scanLines(file, open(file), {
    onLine(text) {
      line++;
      if (text === undefined) return kept.skip("longer than 1 MiB");
      const bare = line === 1 && text.startsWith("\ufeff") ? text.slice(1) : text;
      if (bare.trim() === "") return;
      if (reader === undefined) {
        if (bare.includes("\u0000"))
          throw new CommandFailure(`${place()}: this is not a text file`, "Unpack it first.");
        reader = bare.startsWith("{")
          ? jsonReader(bare, options, place)
          : csvReader(bare, options, place);
        kept.begin(reader);
        if (reader.hasHeader) return;
      }
      kept.add(reader.row(bare));
    },
  });
  if (reader === undefined)
    throw new CommandFailure(`${shown}: nothing in it`, "Name a trace that holds requests.");
  return kept.finish(shown);
}

class Requests {
  private readonly options: TraceOptions;
  private readonly place: Place;
  private readonly maxRequests: number;
  private readonly atMs: number[];
  private readonly sizeMs: number[];
  private readonly skips: Map<string, { count: number; readonly firstPlace: string }>;
  private timeField: string;
  private sizeField: string;
  private timeOf: (written: unknown) => number;
  private sizeOf: (written: unknown) => number;
  private isCut: boolean;

  constructor(options: TraceOptions, place: Place, maxRequests: number) {
    this.options = options;
    this.place = place;
    this.maxRequests = maxRequests;
    this.atMs = [];
    this.sizeMs = [];
    this.skips = new Map();
    this.timeField = "";
    this.sizeField = "";
    this.timeOf = Number;
    this.sizeOf = Number;
    this.isCut = false;
  }

  begin({ timeField, sizeField }: Reader): void {
    const { options, place } = this;
    const { toMs } = valueReader(sizeField, { options: { unit: options.unit }, place });
    this.timeField = timeField;
    this.sizeField = sizeField;
    this.timeOf = timeReader(timeField, options, place);
    this.sizeOf = toMs;
  }

  add(row: Row): void {
    const fault = this.take(row);
    if (fault !== undefined) this.skip(fault);
  }

  skip(reason: string): void {
    const known = this.skips.get(reason);
    if (known === undefined) this.skips.set(reason, { count: 1, firstPlace: this.place() });
    else known.count++;
  }

  /** Keeps a request, or says why it cannot. */
  private take(row: Row): string | undefined {
    if (typeof row === "string") return row;
    const sizeMs = this.sizeOf(row.size);
    if (!Number.isFinite(sizeMs)) return "size: not a number";
    if (sizeMs < 0) return "size: negative";
    const writtenMs = this.timeOf(row.time);
    if (!Number.isFinite(writtenMs)) return "time: neither a number nor ISO 8601";
    if (this.atMs.length >= this.maxRequests) {
      this.isCut = true;
      return undefined;
    }
    this.atMs.push(this.options.timeAt === "end" ? writtenMs - sizeMs : writtenMs);
    this.sizeMs.push(sizeMs);
    return undefined;
  }

  finish(file: string): Trace {
    const { atMs, sizeMs, skips, timeField, sizeField, isCut } = this;
    const [firstSkip] = skips;
    if (atMs.length < 2)
      throw new CommandFailure(
        `${file}: ${atMs.length === 0 ? "no request" : "only one request"} in it`,
        firstSkip === undefined
          ? "Name a trace that holds requests."
          : `The first line that was left out is ${firstSkip[1].firstPlace} (${firstSkip[0]}).`,
      );
    const order = Uint32Array.from(atMs.keys()).sort(
      (a, b) => (atMs[a] as number) - (atMs[b] as number) || a - b,
    );
    const startMs = atMs[order[0] as number] as number;
    return {
      file,
      atMs: Array.from(order, (i) => (atMs[i] as number) - startMs),
      sizeMs: Array.from(order, (i) => sizeMs[i] as number),
      measure: measureOf(sizeField),
      timeField,
      sizeField,
      skips: [...skips].map(([reason, { count, firstPlace }]) => ({ reason, count, firstPlace })),
      isCut,
    };
  }
}

function jsonReader(first: string, options: TraceOptions, place: Place): Reader {
  const record = parseJson(first);
  if (typeof record !== "object" || record === null)
    throw new CommandFailure(`${place()}: not a JSON object`, "Write one JSON object a line.");
  const { time, size } = chooseFields(Object.keys(record), options, place);
  return {
    timeField: time,
    sizeField: size,
    hasHeader: false,
    row(text) {
      const value = parseJson(text);
      if (value === undefined) return "not JSON";
      if (typeof value !== "object" || value === null) return "not a JSON object";
      return { time: fieldAt(value, time), size: fieldAt(value, size) };
    },
  };
}

function csvReader(first: string, options: TraceOptions, place: Place): Reader {
  const delimiter = DELIMITERS.find((candidate) => first.includes(candidate)) ?? ",";
  const names = cells(first, delimiter).map((cell) => cell.trim());
  const hasHeader = names.every((name) => name === "" || !/^[\d.+-]/.test(name));
  const numbers = names.map((_, i) => String(i + 1));
  const { time, size } = hasHeader
    ? chooseFields(names, options, place)
    : { time: options.timeField ?? "1", size: options.sizeField ?? "2" };
  const columnOf = (field: string): number => {
    const byName = hasHeader ? names.indexOf(field) : -1;
    const column = byName === -1 ? numbers.indexOf(field) : byName;
    if (column !== -1) return column;
    throw new CommandFailure(
      `${place()}: no column ${JSON.stringify(field)}`,
      hasHeader
        ? `Its columns are ${names
            .slice(0, 20)
            .map((name) => JSON.stringify(name.slice(0, 40)))
            .join(", ")}.`
        : `There is no header: give a number from 1 to ${names.length}.`,
    );
  };
  const timeColumn = columnOf(time);
  const sizeColumn = columnOf(size);
  const nameOf = (column: number): string => (hasHeader ? (names[column] ?? "") : "");
  return {
    timeField: nameOf(timeColumn),
    sizeField: nameOf(sizeColumn),
    hasHeader,
    row(text) {
      const values = cells(text, delimiter);
      if (values.length <= Math.max(timeColumn, sizeColumn)) return "too few columns";
      return { time: values[timeColumn], size: values[sizeColumn] };
    },
  };
}
