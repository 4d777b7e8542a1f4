import { CommandFailure } from "../terminal/failure.ts";
import type { LogReader, ReaderSetup } from "./latency-log.ts";
import { isLatencyName } from "./latency-name.ts";
import { readLatencyMs } from "./latency-unit.ts";
import { isSet, type ValueReader, valueReader } from "./value-reader.ts";

export const DELIMITERS = [",", "\t", ";", "|"] as const;

interface Columns {
  readonly delimiter: string;
  readonly latency: number;
  readonly pair: number | undefined;
  readonly censored: number | undefined;
  readonly latencyOf: ValueReader;
  readonly pairOf: ValueReader;
}

/**
 * Values in columns, with a header or without; one value a line is a column too.
 *
 * Quoted cells follow RFC 4180, but for line ends inside quotes.
 */
export function csvReader(setup: ReaderSetup): LogReader {
  const { sink } = setup;
  let columns: Columns | undefined;
  return {
    line(text) {
      if (text.trim() === "") return;
      if (columns === undefined) {
        const first = readFirst(text, setup);
        columns = first.columns;
        if (first.isHeader) return;
      }
      readRow(text, columns, setup);
    },
    end() {
      if (columns === undefined) sink.skip("empty");
    },
  };
}

function readRow(text: string, columns: Columns, { sink }: ReaderSetup): void {
  const { delimiter, latency } = columns;
  const cell = cellAt(text, delimiter, latency);
  const ms = cell === undefined ? Number.NaN : columns.latencyOf.toMs(cell);
  if (Number.isNaN(ms)) {
    sink.skip(whyNoLatency(cell));
    return;
  }
  if (columns.censored !== undefined && isSet(cellAt(text, delimiter, columns.censored))) {
    sink.addCensored(ms);
    return;
  }
  sink.add(ms);
  if (columns.pair === undefined) return;
  const backupMs = columns.pairOf.toMs(cellAt(text, delimiter, columns.pair) ?? "");
  if (ms >= 0 && !Number.isNaN(backupMs)) sink.addPair({ primaryMs: ms, backupMs });
}

function whyNoLatency(cell: string | undefined): string {
  if (cell === undefined) return "too few columns";
  return cell.trim() === "" ? "empty" : "not a number";
}

/** One cell, without reading the others where nothing is quoted. */
function cellAt(text: string, delimiter: string, column: number): string | undefined {
  if (text.includes('"')) return cells(text, delimiter)[column];
  let from = 0;
  for (let i = 0; i < column; i++) {
    const end = text.indexOf(delimiter, from);
    if (end === -1) return undefined;
    from = end + 1;
  }
  const end = text.indexOf(delimiter, from);
  return end === -1 ? text.slice(from) : text.slice(from, end);
}

/** All cells of a line, without their quotes. */
export function cells(text: string, delimiter: string): string[] {
  const found: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (char === '"') {
      if (isQuoted && text[i + 1] === '"') cell += text[++i];
      else isQuoted = !isQuoted;
    } else if (char === delimiter && !isQuoted) {
      found.push(cell);
      cell = "";
    } else cell += char;
  }
  found.push(cell);
  return found;
}

function readFirst(text: string, setup: ReaderSetup): { columns: Columns; isHeader: boolean } {
  const { options } = setup;
  const delimiter = DELIMITERS.find((candidate) => text.includes(candidate)) ?? ",";
  const first = cells(text, delimiter).map((cell) => cell.trim());
  const isHeader = !first.some(isValue);
  const names = isHeader ? first : first.map(() => "");
  const latency =
    options.field === undefined
      ? onlyColumn(first, isHeader, setup)
      : namedColumn(options.field, names, setup);
  const pair =
    options.pairField === undefined ? undefined : namedColumn(options.pairField, names, setup);
  const censored =
    options.censoredField === undefined
      ? undefined
      : namedColumn(options.censoredField, names, setup);
  return {
    isHeader,
    columns: {
      delimiter,
      latency,
      pair,
      censored,
      latencyOf: valueReader(names[latency] ?? "", setup),
      pairOf: valueReader(pair === undefined ? "" : (names[pair] ?? ""), setup),
    },
  };
}

function isValue(cell: string): boolean {
  return (cell !== "" && !Number.isNaN(Number(cell))) || readLatencyMs(cell) !== undefined;
}

function onlyColumn(first: readonly string[], isHeader: boolean, setup: ReaderSetup): number {
  if (first.length === 1) return 0;
  const named = first.flatMap((name, i) => (isHeader && isLatencyName(name) ? [i] : []));
  if (named.length === 1) return named[0] as number;
  const known = isHeader ? `, of ${show(first)}` : `: it has ${first.length}`;
  throw new CommandFailure(
    `${setup.place()}: ${named.length > 1 ? "several columns could be" : "no column is named as"} the latency${known}`,
    "Name it: --field NAME, or --field 2 for the second column.",
  );
}

function namedColumn(field: string, names: readonly string[], setup: ReaderSetup): number {
  const byName = names.indexOf(field);
  if (byName !== -1) return byName;
  const index = Number(field);
  if (Number.isInteger(index) && index >= 1 && index <= names.length) return index - 1;
  const isHeaderless = names.every((name) => name === "");
  throw new CommandFailure(
    `${setup.place()}: no column ${JSON.stringify(field)}`,
    isHeaderless
      ? `There is no header: give a number from 1 to ${names.length}.`
      : `Its columns are ${show(names)}.`,
  );
}

function show(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => JSON.stringify(name.slice(0, 40)));
  return shown.join(", ") + (names.length > 20 ? ", ..." : "");
}
