const [LF, CR, COLON] = [10, 13, 58] as const;
const DATA = [100, 97, 116, 97] as const;

/**
 * Counts the events of a `text/event-stream`. An event is one or more lines of which at least one is `data`, ended by an
 * empty line; comments that keep the connection alive are none.
 * Source: WHATWG HTML, 9.2.6, "Interpreting an event stream".
 */
export class EventStream {
  /** Bytes of the line so far. */
  private column: number;
  /** How many of them are the name `data`: 4 with the whole name, -1 once the line is something else. */
  private matched: number;
  private hasData: boolean;
  private afterCr: boolean;

  constructor() {
    this.column = 0;
    this.matched = 0;
    this.hasData = false;
    this.afterCr = false;
  }

  /** @returns how many events ended in these bytes. */
  read(bytes: Uint8Array): number {
    let events = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (byte === LF && this.afterCr) {
        this.afterCr = false;
        continue;
      }
      this.afterCr = byte === CR;
      if (byte === LF || byte === CR) {
        if (this.endLine()) events++;
      } else this.addToLine(byte);
    }
    return events;
  }

  private addToLine(byte: number): void {
    if (this.matched === DATA.length) {
      // The name ends here, or is longer than it.
      if (byte === COLON) this.hasData = true;
      this.matched = -1;
    } else if (this.matched >= 0) {
      this.matched = byte === DATA[this.matched] ? this.matched + 1 : -1;
    }
    this.column++;
  }

  /** @returns whether an event ended with it. */
  private endLine(): boolean {
    const isEmpty = this.column === 0;
    // A field without a colon is one with an empty value.
    if (this.matched === DATA.length) this.hasData = true;
    const isEvent = isEmpty && this.hasData;
    if (isEmpty) this.hasData = false;
    this.column = 0;
    this.matched = 0;
    return isEvent;
  }
}
