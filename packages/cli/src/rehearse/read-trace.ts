import type { Readable } from "node:stream";
import { brokenHeader, CsvRows, cellsOf, delimiterOf, type Position } from "../plan/csv-rows.ts";
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

/** Which names hold the arrival and the size; "" where there is no header. */
interface Names {
  readonly timeField: string;
  readonly sizeField: string;
}

/** Takes the lines of one format. */
interface LineTaker {
  line(text: string): void;
  /** A line is left out, or there are no more. */
  cut(): void;
}

interface TakerSetup {
  readonly kept: Requests;
  readonly options: TraceOptions;
  readonly place: Place;
  readonly at: Position;
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
  const at: Position = { line: 0 };
  const place: Place = () => `${shown}:${Math.max(1, at.line)}`;
  const kept = new Requests(options, place, maxRequests);
  let taker: LineTaker | undefined;
  await scanLines(file, open(file), {
    onLine(text) {
      at.line++;
      if (text === undefined) {
        taker?.cut();
        return kept.skip("longer than 1 MiB");
      }
      const bare = at.line === 1 && text.startsWith("\ufeff") ? text.slice(1) : text;
      if (taker === undefined) {
        if (bare.trim() === "") return;
        taker = takerOf(bare, { kept, options, place, at });
      }
      taker.line(bare);
    },
  });
  if (taker === undefined)
    throw new CommandFailure(`${shown}: nothing in it`, "Name a trace that holds requests.");
  taker.cut();
  return kept.finish(shown);
}

function takerOf(first: string, setup: TakerSetup): LineTaker {
  if (first.includes("\u0000"))
    throw new CommandFailure(`${setup.place()}: this is not a text file`, "Unpack it first.");
  return first.startsWith("{") ? jsonTaker(first, setup) : csvTaker(first, setup);
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

  begin({ timeField, sizeField }: Names): void {
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

function jsonTaker(first: string, { kept, options, place }: TakerSetup): LineTaker {
  const record = parseJson(first);
  if (typeof record !== "object" || record === null)
    throw new CommandFailure(`${place()}: not a JSON object`, "Write one JSON object a line.");
  const { time, size } = chooseFields(Object.keys(record), options, place);
  kept.begin({ timeField: time, sizeField: size });
  const rowOf = (text: string): Row => {
    const value = parseJson(text);
    if (value === undefined) return "not JSON";
    if (typeof value !== "object" || value === null) return "not a JSON object";
    return { time: fieldAt(value, time), size: fieldAt(value, size) };
  };
  return {
    line(text) {
      if (text.trim() !== "") kept.add(rowOf(text));
    },
    cut() {},
  };
}

function csvTaker(first: string, { kept, options, place, at }: TakerSetup): LineTaker {
  const delimiter = delimiterOf(first);
  let columns: Columns | undefined;
  return new CsvRows({
    delimiter,
    at,
    onRow(row) {
      const values = cellsOf(row, delimiter);
      if (columns === undefined) {
        columns = columnsOf(values, options, place);
        kept.begin(columns);
        if (columns.hasHeader) return;
      }
      const { time, size } = columns;
      kept.add(
        values.length > Math.max(time, size)
          ? { time: values[time], size: values[size] }
          : "too few columns",
      );
    },
    onBroken(reason) {
      if (columns === undefined) throw brokenHeader(place(), reason);
      kept.skip(reason);
    },
  });
}

interface Columns extends Names {
  /** The first row is a header. */
  readonly hasHeader: boolean;
  readonly time: number;
  readonly size: number;
}

function columnsOf(first: readonly string[], options: TraceOptions, place: Place): Columns {
  const names = first.map((cell) => cell.trim());
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
  const nameOf = (column: number): string => (hasHeader ? (names[column] ?? "") : "");
  const [timeColumn, sizeColumn] = [columnOf(time), columnOf(size)];
  return {
    hasHeader,
    time: timeColumn,
    size: sizeColumn,
    timeField: nameOf(timeColumn),
    sizeField: nameOf(sizeColumn),
  };
}
