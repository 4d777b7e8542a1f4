import { CommandFailure } from "../terminal/failure.ts";
import { CsvCells } from "./csv-cells.ts";

/** Of the line in hand, from 1; what messages name. */
export interface Position {
  line: number;
}

/** The text of the row where nothing is quoted, else its cells. */
export type CsvRow = string | readonly string[];

export interface CsvRowsSetup {
  readonly delimiter: string;
  /** Is that of the row's first line while a row is handed on. */
  readonly at: Position;
  onRow(row: CsvRow): void;
  /** A row that cannot be read; the reason holds nothing of it. */
  onBroken(reason: string): void;
}

/** A longer row is no row: its opening quote is one that nobody closed. */
const MAX_ROW_LENGTH = 1_048_576;
const OPEN = "a quoted cell that does not end";
const BROKEN = "a quote inside quotes that is not doubled";

/**
 * Joins lines to rows: a quoted cell may hold line ends (RFC 4180). A row in hand takes at most 1 MiB.
 *
 * Where a row does not end, or makes no sense, its first line alone is lost: one stray quote does not take the lines after it
 * along. They are then looked at one by one, so that no line is read more than twice.
 */
export class CsvRows {
  private readonly setup: CsvRowsSetup;
  private readonly cells: CsvCells;
  /** Of the row in hand. */
  private lines: string[];
  private length: number;
  private firstLine: number;

  constructor(setup: CsvRowsSetup) {
    this.setup = setup;
    this.cells = new CsvCells(setup.delimiter);
    this.lines = [];
    this.length = 0;
    this.firstLine = 0;
  }

  line(text: string): void {
    if (this.lines.length > 0) this.goOn(text);
    else if (text.includes('"')) this.begin(text);
    else if (text.trim() !== "") this.setup.onRow(text);
  }

  /** The next line is lost, or there is none: a row in hand does not end. */
  cut(): void {
    if (this.lines.length > 0) this.giveUp();
  }

  private begin(text: string): void {
    this.cells.clear();
    const state = this.cells.feed(text);
    if (state === "ended") this.setup.onRow(this.cells.found);
    else if (state === "broken") this.setup.onBroken(BROKEN);
    else {
      this.firstLine = this.setup.at.line;
      this.keep(text);
    }
  }

  private goOn(text: string): void {
    const { at } = this.setup;
    const state = this.cells.feed(text);
    if (state === "open") {
      this.keep(text);
      if (this.length > MAX_ROW_LENGTH) this.giveUp();
    } else if (state === "ended") {
      const last = at.line;
      at.line = this.firstLine;
      this.drop();
      this.setup.onRow(this.cells.found);
      at.line = last;
    } else {
      this.giveUp();
      this.line(text);
    }
  }

  private keep(text: string): void {
    this.lines.push(text);
    this.length += text.length + 1;
  }

  private drop(): string[] {
    const { lines } = this;
    this.lines = [];
    this.length = 0;
    return lines;
  }

  private giveUp(): void {
    const { at } = this.setup;
    const last = at.line;
    const first = this.firstLine;
    for (const [i, text] of this.drop().entries()) {
      at.line = first + i;
      this.line(text);
      // Alone it has no end: true of the first line, and of others that open a quote.
      if (this.drop().length > 0) this.setup.onBroken(OPEN);
    }
    at.line = last;
  }
}

/** For the first row: without it nothing is known of the others. */
export function brokenHeader(place: string, reason: string): CommandFailure {
  return new CommandFailure(
    `${place}: ${reason}`,
    'Write a quote inside a quoted cell twice, as in "say ""hi""", and close the cell with one.',
  );
}

const DELIMITERS = [",", "\t", ";", "|"] as const;

/** By the first line: what stands between its cells. */
export function delimiterOf(first: string): string {
  const bare = first.replace(/"(?:[^"]|"")*(?:"|$)/g, "");
  return DELIMITERS.find((candidate) => bare.includes(candidate)) ?? ",";
}

/** One cell, without looking for the others where nothing is quoted. */
export function cellAt(row: CsvRow, delimiter: string, column: number): string | undefined {
  if (typeof row !== "string") return row[column];
  let from = 0;
  for (let i = 0; i < column; i++) {
    const end = row.indexOf(delimiter, from);
    if (end === -1) return undefined;
    from = end + 1;
  }
  const end = row.indexOf(delimiter, from);
  return end === -1 ? row.slice(from) : row.slice(from, end);
}

export function cellsOf(row: CsvRow, delimiter: string): readonly string[] {
  return typeof row === "string" ? row.split(delimiter) : row;
}
