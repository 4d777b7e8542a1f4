import { CommandFailure } from "../terminal/failure.ts";
import { brokenHeader, type CsvRow, CsvRows, cellAt, cellsOf, delimiterOf } from "./csv-rows.ts";
import type { LogReader, ReaderSetup } from "./latency-log.ts";
import { isLatencyName } from "./latency-name.ts";
import { readLatencyMs } from "./latency-unit.ts";
import { isSet, type ValueReader, valueReader } from "./value-reader.ts";

interface Columns {
  readonly delimiter: string;
  readonly latency: number;
  readonly pair: number | undefined;
  readonly censored: number | undefined;
  readonly latencyOf: ValueReader;
  readonly pairOf: ValueReader;
}

/** Values in columns, with a header or without; one value a line is a column too. Quoted cells follow RFC 4180. */
export function csvReader(setup: ReaderSetup): LogReader {
  const { sink, at } = setup;
  let rows: CsvRows | undefined;
  let columns: Columns | undefined;
  const open = (delimiter: string): CsvRows =>
    new CsvRows({
      delimiter,
      at,
      onRow(row) {
        if (columns === undefined) {
          const first = readFirst(row, delimiter, setup);
          columns = first.columns;
          if (first.isHeader) return;
        }
        readRow(row, columns, setup);
      },
      onBroken(reason) {
        if (columns === undefined) throw brokenHeader(setup.place(), reason);
        sink.skip(reason);
      },
    });
  return {
    line(text) {
      rows ??= open(delimiterOf(text));
      rows.line(text);
    },
    cut() {
      rows?.cut();
    },
    end() {
      rows?.cut();
      if (columns === undefined) sink.skip("empty");
    },
  };
}

function readRow(row: CsvRow, columns: Columns, { sink }: ReaderSetup): void {
  const { delimiter, latency } = columns;
  const cell = cellAt(row, delimiter, latency);
  const ms = cell === undefined ? Number.NaN : columns.latencyOf.toMs(cell);
  if (Number.isNaN(ms)) {
    sink.skip(whyNoLatency(cell));
    return;
  }
  if (columns.censored !== undefined && isSet(cellAt(row, delimiter, columns.censored))) {
    sink.addCensored(ms);
    return;
  }
  sink.add(ms);
  if (columns.pair === undefined) return;
  const backupMs = columns.pairOf.toMs(cellAt(row, delimiter, columns.pair) ?? "");
  if (ms >= 0 && !Number.isNaN(backupMs)) sink.addPair({ primaryMs: ms, backupMs });
}

function whyNoLatency(cell: string | undefined): string {
  if (cell === undefined) return "too few columns";
  return cell.trim() === "" ? "empty" : "not a number";
}

function readFirst(
  row: CsvRow,
  delimiter: string,
  setup: ReaderSetup,
): { columns: Columns; isHeader: boolean } {
  const { options } = setup;
  const first = cellsOf(row, delimiter).map((cell) => cell.trim());
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
