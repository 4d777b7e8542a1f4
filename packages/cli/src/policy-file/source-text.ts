/** A text with its name and the starts of its lines. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
  /** Line and column, both from 1. An offset outside the text is moved to its nearest end. */
  placeOf(offset: number): { readonly line: number; readonly column: number };
  /** The line without its ending; empty past the last one. */
  lineText(line: number): string;
}

export function createSourceText(file: string, text: string): SourceText {
  const starts = [0];
  for (let i = text.indexOf("\n"); i !== -1; i = text.indexOf("\n", i + 1)) starts.push(i + 1);
  const startOf = (line: number): number => starts[line - 1] ?? text.length;

  return {
    file,
    text,
    placeOf(offset) {
      const inside = Math.min(Math.max(0, offset), text.length);
      let low = 1;
      let high = starts.length;
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (startOf(middle) <= inside) low = middle;
        else high = middle - 1;
      }
      return { line: low, column: inside - startOf(low) + 1 };
    },
    lineText(line) {
      const end = starts[line] ?? text.length + 1;
      return text.slice(startOf(line), end - 1).replace(/\r$/, "");
    },
  };
}
