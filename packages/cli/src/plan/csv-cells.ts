/** The cells of one row, line by line, without their quotes. */
export class CsvCells {
  /** Of the row so far. */
  found: string[];
  private readonly delimiter: string;
  private cell: string;
  private isQuoted: boolean;

  constructor(delimiter: string) {
    this.found = [];
    this.delimiter = delimiter;
    this.cell = "";
    this.isQuoted = false;
  }

  /** For the next row; `found` stays with whoever has it. */
  clear(): void {
    this.found = [];
    this.cell = "";
    this.isQuoted = false;
  }

  /**
   * Takes the next line of the row. `open`: a quoted cell goes on in the next line.
   *
   * A quote opens a cell where only blanks stand before it; inside an unquoted cell it is a character like any other. After a
   * closing quote only blanks may follow, else the row is `broken`: what was meant cannot be told.
   */
  feed(line: string): "ended" | "open" | "broken" {
    const { delimiter } = this;
    let from = 0;
    while (true) {
      if (!this.isQuoted) {
        const start = afterBlanks(line, from);
        if (line[start] !== '"') {
          const end = line.indexOf(delimiter, from);
          this.found.push(end === -1 ? line.slice(from) : line.slice(from, end));
          if (end === -1) return "ended";
          from = end + 1;
          continue;
        }
        this.isQuoted = true;
        this.cell = "";
        from = start + 1;
      }
      const closing = this.readQuoted(line, from);
      if (closing === -1) return "open";
      const end = afterBlanks(line, closing + 1);
      if (end < line.length && line[end] !== delimiter) return "broken";
      this.found.push(this.cell);
      this.isQuoted = false;
      if (end >= line.length) return "ended";
      from = end + 1;
    }
  }

  /** Where the closing quote stands; -1: not in this line. */
  private readQuoted(line: string, start: number): number {
    let from = start;
    while (true) {
      const quote = line.indexOf('"', from);
      if (quote === -1) {
        this.cell += `${line.slice(from)}\n`;
        return -1;
      }
      this.cell += line.slice(from, quote);
      if (line[quote + 1] !== '"') return quote;
      this.cell += '"';
      from = quote + 2;
    }
  }
}

function afterBlanks(line: string, start: number): number {
  let at = start;
  while (line[at] === " ") at++;
  return at;
}
