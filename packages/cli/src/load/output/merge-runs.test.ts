import { expect, test } from "vitest";
import { mergeRuns } from "./merge-runs.ts";
import { runsCsv } from "./run-csv.ts";
import { inventedRun } from "./run-record.testbed.ts";

const at = (startedAt: string, outcome: (i: number) => number | "refused") => ({
  file: startedAt,
  run: { ...inventedRun({ outcome }), startedAt },
});

test("merged runs are one sample: counts add up, percentiles are of all requests and not an average", () => {
  const run = mergeRuns([at("1", () => 2), at("2", (i) => (i % 10 === 0 ? "refused" : 40))]);
  expect(run.measured.ledger).toMatchObject({ planned: 2_000, ok: 1_900, transportErrors: 100 });
  // More than half of all answers took 2 ms; the average of the medians would be 21.
  expect(run.measured.completed.quantile(0.5)).toBeLessThan(2_020);
  expect(run.intervals.map(({ startMs }) => startMs)).toEqual(
    Array.from({ length: 20 }, (_, i) => i * 1_000),
  );
  expect(run.setup.plannedCount).toBe(2_000);
});

test("runs that were not asked the same, and one run given twice, are not merged", () => {
  const other = { file: "b", run: inventedRun({ options: { timeoutMs: 77 } }) };
  expect(() => mergeRuns([at("1", () => 2), other])).toThrow("timeout differs");
  const elsewhere = { file: "c", run: inventedRun({ options: { url: "http://127.0.0.1:9/a" } }) };
  expect(() => mergeRuns([at("1", () => 2), elsewhere])).toThrow("target differs");
  expect(() => mergeRuns([at("1", () => 2), at("1", () => 2)])).toThrow("count twice");
});

test("failures of merged runs are told apart up to 32 kinds, as those of one", () => {
  const sick = ["1", "2"].map((startedAt, run) => {
    const one = at(startedAt, () => "refused");
    const { failures } = one.run.measured;
    failures.clear();
    for (let i = 0; i < 20; i++) failures.set(`kind ${20 * run + i}`, 50);
    return one;
  });
  const { failures } = mergeRuns(sick).measured;
  expect(failures.size).toBe(32);
  expect(failures.get("other")).toBe(9 * 50);
  expect([...failures.values()].reduce((sum, count) => sum + count)).toBe(2_000);
});

test("the table has one line an interval, and an empty field where the interval has too few", () => {
  const run = inventedRun({ outcome: (i) => (i % 10 === 0 ? "refused" : 2) });
  const lines = runsCsv([run]).trimEnd().split("\n");
  expect(lines).toHaveLength(11);
  expect(lines[0]).toBe(
    "run,planned_per_sec,start_ms,length_ms,sent,dropped,infinite,count,p50_ms,p90_ms,p99_ms,max_ms",
  );
  expect(lines[1]).toBe("1,100,0,1000,100,0,10,90,2,2,,2");
});
