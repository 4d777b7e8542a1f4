import { expect, test } from "vitest";
import { createPalette } from "../../terminal/palette.ts";
import type { InventedRun } from "./run-record.testbed.ts";
import { inventedRun, stalledMs } from "./run-record.testbed.ts";
import { runText } from "./run-text.ts";
import { sideBySide } from "./side-by-side.ts";
import { textSpectrum } from "./text-spectrum.ts";

const text = (invented: InventedRun, columns = 80) =>
  runText(inventedRun(invented), { palette: createPalette(false), columns });
const rowOf = (page: string, name: string) =>
  page.split("\n").find((line) => line.trimStart().startsWith(name)) ?? "";

test("failed requests make the headline unbounded, and the success-only figures stand beside it", () => {
  const page = text({ outcome: (i) => (i % 32 === 0 ? "refused" : 2) });
  expect(rowOf(page, "p90 ")).toMatch(/p90 +2\.00 ms +~2\.00 ms/);
  expect(rowOf(page, "p99 ")).toMatch(/p99 +~unbounded \(3\.2 % failed\) +~2\.00 ms/);
  expect(rowOf(page, "max")).toMatch(/max +unbounded +2\.00 ms/);
});

test("requests that were given up make it a lower bound", () => {
  const page = text({
    options: { timeoutMs: 1_000 },
    outcome: (i) => (i % 10 === 0 ? "timeout" : 6),
  });
  expect(rowOf(page, "p95 ")).toMatch(/p95 +~>= 1,000 ms +~6\.00 ms/);
  expect(rowOf(page, "max")).toMatch(/max +>= 1,000 ms/);
});

test("a percentile that the sample does not carry is not printed, but how many it needs is", () => {
  const page = text({ options: { ratePerSec: 52.5 } });
  expect(page).toContain("p99.9 needs 3,688 samples; this run has 525");
  expect(page).not.toContain("p99.99");
  // Few exceedances are marked, many are not.
  expect(rowOf(page, "p50 ")).not.toContain("~");
  expect(rowOf(page, "p99 ")).toContain("~");
});

test("the ledger is two sums that add up, with answers by status and failures by kind", () => {
  const outcomes = ["http-error", "refused", "dropped", "timeout", "open", "unsent"] as const;
  const page = text({ outcome: (i) => outcomes[i % 100] ?? 2 });
  const numbers = (line: string) =>
    [...line.matchAll(/\d[\d,]*/g)].map(([n]) => Number(n.replaceAll(",", "")));
  const [planned = 0, ...parts] = numbers(rowOf(page, "planned"));
  expect(planned).toBe(parts.reduce((a, b) => a + b, 0));
  const [sent = 0, ...ends] = numbers(
    /sent [\d,]+ = ok[^=]*?open at end [\d,]+/.exec(page)?.[0] ?? "",
  );
  expect([sent, sent]).toEqual([parts[0], ends.reduce((a, b) => a + b, 0)]);
  expect(page).toContain("answers by status: 200 940, 503 10");
  expect(page).toContain("transport errors: ECONNREFUSED 10");
  expect(page).toContain("Partial: stopped");
});

test("a generator that could not keep up is said first, with why and what to do", () => {
  const page = text({ check: { verdict: "generator-limited", reasons: ["12 dropped"] } });
  expect(page).toMatch(/Self-check: generator-limited\. .*Why: 12 dropped\..*--max-in-flight/s);
});

test("a stall is one slow episode, however many requests it held up", () => {
  const options = { ratePerSec: 500 };
  expect(text({ options, outcome: stalledMs(5_000) })).toContain(
    "p99.9 stands on 1 slow episode\n",
  );
});

test("no line is wider than 80 columns, whatever the terminal, and a narrow one has no spectrum", () => {
  for (const columns of [10, 40, 80]) {
    const page = text({ options: { ratePerSec: 500 }, outcome: stalledMs(5_000) }, columns);
    for (const line of page.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    const glyphs = page.split("\n").filter((line) => line.includes("█"));
    if (columns < 20) expect(glyphs).toEqual([]);
    for (const line of glyphs) expect(line.length).toBeLessThanOrEqual(columns);
  }
});

test("the spectrum rises from left to right and its axis names the nines that it holds", () => {
  const points = [0.1, 0.5, 1, 1.5, 2, 2.5].map((nines) => ({ nines, ms: 10 ** nines }));
  const lines = textSpectrum(points, 80);
  const heights = Array.from({ length: 60 }, (_, i) =>
    lines.slice(0, -1).reduce((sum, line) => sum + " ▁▂▃▄▅▆▇█".indexOf(line[11 + i] ?? " "), 0),
  );
  expect(heights.every((height, i) => i === 0 || height >= (heights[i - 1] ?? 0))).toBe(true);
  expect(heights.at(-1)).toBeGreaterThan(heights[0] ?? 0);
  expect(lines.at(-1)).toMatch(/p50 +p90 +p99$/);
});

test("side by side, runs that were not asked the same are said to be such", () => {
  const runs = [
    { file: "a.json", run: inventedRun() },
    { file: "b.json", run: inventedRun({ options: { ratePerSec: 200 } }) },
  ];
  const page = sideBySide(runs, createPalette(false));
  expect(page).toMatch(/a\.json +b\.json/);
  expect(page).toContain("They were not asked the same: rate differs.");
  for (const line of page.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});
