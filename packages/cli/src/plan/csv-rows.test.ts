import fc from "fast-check";
import { expect, test } from "vitest";
import { type CsvRow, CsvRows, cellsOf, delimiterOf } from "./csv-rows.ts";

/** What comes of a text: the cells of each row, or why there are none, with the line that is named. */
function read(text: string, delimiter = ",") {
  const at = { line: 0 };
  const found: { line: number; cells?: readonly string[]; broken?: string }[] = [];
  const rows = new CsvRows({
    delimiter,
    at,
    onRow: (row: CsvRow) => found.push({ line: at.line, cells: cellsOf(row, delimiter) }),
    onBroken: (broken) => found.push({ line: at.line, broken }),
  });
  for (const line of text.split("\n")) {
    at.line++;
    rows.line(line);
  }
  rows.cut();
  return found;
}

const OPEN = "a quoted cell that does not end";

test("whatever is in quoted cells comes out as it was, and the line of a row is its first", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", '"', "\n", ",", ";", " ", "7") });
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 1 }), { minLength: 1 }), (table) => {
      const rows = table.map((cells) =>
        cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(","),
      );
      let line = 1;
      const expected = table.map((cells, i) => {
        const found = { line, cells };
        line += (rows[i] as string).split("\n").length;
        return found;
      });
      expect(read(rows.join("\n"))).toEqual(expected);
    }),
  );
});

test("a quote inside an unquoted cell is a character, and blanks around a quoted one do not count", () => {
  expect(read('7,5" pipe\n8 , "a,b" ,c')).toEqual([
    { line: 1, cells: ["7", '5" pipe'] },
    { line: 2, cells: ["8 ", "a,b", "c"] },
  ]);
});

test("a quote that is not doubled loses its row and no other", () => {
  expect(read('1,"say "hi, there"",7\n2,x,8')).toEqual([
    { line: 1, broken: "a quote inside quotes that is not doubled" },
    { line: 2, cells: ["2", "x", "8"] },
  ]);
});

test("a quote that nobody closes loses its line alone: those after it are read as rows", () => {
  const after = [
    { line: 3, cells: ["3", "y"] },
    { line: 4, cells: ["4", "z"] },
  ];
  expect(read('1,x\n2,"stray\n3,y\n4,"z"')).toEqual([
    { line: 1, cells: ["1", "x"] },
    { line: 2, broken: OPEN },
    ...after,
  ]);
  expect(read('2,x\n2,"stray\n3,y\n4,z').slice(1)).toEqual([{ line: 2, broken: OPEN }, ...after]);
});

test("no edit of a text loses a line without a word, or makes the reader throw", () => {
  const line = fc.string({ unit: fc.constantFrom("a", '"', '""', ",", '","', " "), maxLength: 8 });
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), (lines) => {
      const found = read(lines.join("\n"));
      const named = found.map((row) => row.line);
      expect(named).toEqual([...named].sort((a, b) => a - b));
      const taken = found.reduce(
        (sum, { cells = [] }) => sum + 1 + cells.join("").split("\n").length - 1,
        0,
      );
      const blank = lines.filter((text) => text.trim() === "").length;
      expect(taken).toBeGreaterThanOrEqual(lines.length - blank);
      expect(taken).toBeLessThanOrEqual(lines.length);
    }),
    { numRuns: 2_000 },
  );
});

test("an open row is given up beyond 1 MiB, and every line is looked at no more than twice", () => {
  const found = read(`"open\n${'abc","def\n'.repeat(300_000)}end`);
  expect(found.length).toBeGreaterThan(100_000);
  expect(found[0]).toEqual({ line: 1, broken: OPEN });
  expect(found.at(-1)).toEqual({ line: 300_002, cells: ["end"] });
});

test("the delimiter is one that stands between cells", () => {
  expect(['"a,b";c', "a\tb,c", "a", '"a;b"'].map(delimiterOf)).toEqual([";", ",", ",", ","]);
});
