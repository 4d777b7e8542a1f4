import { describe, expect, test } from "vitest";
import { planRows } from "./plan-rows.ts";
import { holds, showTolerance } from "./verify-row.ts";

describe("the arithmetic of the acceptance list", () => {
  for (const row of planRows) {
    test(`row ${row.row}: ${row.fact}: ${row.expected} (${showTolerance(row.tolerance)})`, () => {
      const got = row.compute();
      expect(holds(row, got), `expected ${row.expected}, got ${got}`).toBe(true);
    });
  }
});

test("every row that is arithmetic is there", () => {
  const rows = [...new Set(planRows.map((row) => row.row))];
  expect(rows).toEqual([29, 30, 31, 32, 33, 34, 38, 39, 40, 41, 42, 43, 45, 46, 52, 54, 55, 56]);
});

test("a row that is off by more than its tolerance fails", () => {
  for (const row of planRows.slice(0, 20)) {
    const width =
      row.tolerance.kind === "relative"
        ? row.tolerance.ratio * row.expected
        : row.tolerance.kind === "absolute"
          ? row.tolerance.width
          : 1;
    expect(holds(row, row.expected + 1.01 * width)).toBe(false);
  }
});
