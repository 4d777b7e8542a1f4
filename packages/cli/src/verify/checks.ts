import { rowHolds, type SimRow, simRows, type Tolerance } from "bobtail/sim";
import { planRows } from "./plan-rows.ts";
import { holds, showTolerance, type VerifyRow } from "./verify-row.ts";

/** One fact of the acceptance list, however it is found out. */
export interface Check {
  /** Row of the acceptance list. */
  readonly row: number;
  /** The row, and what sets this check apart from the others of the row: `3 (>= 2)`. */
  readonly id: string;
  readonly by: "arithmetic" | "simulator";
  readonly fact: string;
  readonly source: string;
  readonly expected: number;
  /** As a table shows it. */
  readonly tolerance: string;
  /** How many times wider the tolerance of a quick run is; undefined: too slow for one, which leaves it out. */
  readonly quickSlack: number | undefined;
  /** @param quick - a smaller number of requests, and a tolerance that is wider by what that costs. */
  run(quick: boolean): { readonly got: number; readonly holds: boolean };
}

export const checks: readonly Check[] = [...planChecks(planRows), ...simRows.map(simCheck)].sort(
  (a, b) => a.row - b.row,
);

function planChecks(rows: readonly VerifyRow[]): Check[] {
  return rows.map((row, i) => {
    const ofRow = rows.filter((other) => other.row === row.row);
    const place = rows.slice(0, i).filter((other) => other.row === row.row).length;
    return {
      row: row.row,
      id: ofRow.length === 1 ? String(row.row) : `${row.row}.${place + 1}`,
      by: "arithmetic",
      fact: row.fact,
      source: row.source,
      expected: row.expected,
      tolerance: showTolerance(row.tolerance),
      quickSlack: 1,
      run() {
        const got = row.compute();
        return { got, holds: holds(row, got) };
      },
    };
  });
}

function simCheck(row: SimRow): Check {
  return {
    row: Number.parseInt(row.id, 10),
    id: row.id,
    by: "simulator",
    fact: row.fact,
    source: row.source,
    expected: row.expected,
    tolerance: showSimTolerance(row.tolerance),
    quickSlack: row.quick?.slack,
    run(quick) {
      const { scale, slack } = (quick ? row.quick : undefined) ?? { scale: 1, slack: 1 };
      const got = row.compute(scale);
      return { got, holds: rowHolds(row, got, slack) };
    },
  };
}

function showSimTolerance(tolerance: Tolerance): string {
  switch (tolerance.kind) {
    case "ratio":
      return showTolerance({ kind: "relative", ratio: tolerance.value });
    case "absolute":
      return showTolerance({ kind: "absolute", width: tolerance.value });
    case "least":
      return "at least";
    case "most":
      return "at most";
  }
}
