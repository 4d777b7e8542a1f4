import { describe, expect, test } from "vitest";
import { rowHolds } from "./sim-row.ts";
import { simRows } from "./sim-rows.ts";

describe("the simulator shows what theory and independent simulations say", () => {
  for (const row of simRows) {
    const { quick } = row;
    if (quick === undefined) continue;
    test(`row ${row.id}: ${row.fact}`, () => {
      const got = row.compute(quick.scale);
      expect(
        rowHolds(row, got, quick.slack),
        `expected ${row.expected}, got ${got}, tolerance ${JSON.stringify(row.tolerance)} x ${quick.slack}`,
      ).toBe(true);
    });
  }
});

test("every row has a name of its own, and a value far off does not hold", () => {
  expect(new Set(simRows.map((row) => row.id)).size).toBe(simRows.length);
  for (const row of simRows) {
    const off =
      row.tolerance.kind === "most" ? row.expected + 1 : row.expected - 1 - Math.abs(row.expected);
    expect(rowHolds(row, off, row.quick?.slack)).toBe(false);
    expect(rowHolds(row, Number.NaN, row.quick?.slack)).toBe(false);
  }
});
