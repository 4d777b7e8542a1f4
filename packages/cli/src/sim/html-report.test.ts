import type { SimResult } from "bobtail/sim";
import { expect, test } from "vitest";
import { htmlReport } from "./html-report.ts";
import { jobOf, simulate, smallScenario } from "./scenario.testbed.ts";
import type { ReportRow } from "./sim-report.ts";

const html = async (...job: Parameters<typeof jobOf>): Promise<string> =>
  htmlReport(await simulate(jobOf(...job)));

test("the report is one file that loads nothing and runs nothing", async () => {
  const page = await html(smallScenario(), { runs: 2, sweeps: ["arrivals.load=0.2..0.6:0.2"] });
  expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|src=|href=|https?:/i);
  expect(page).toContain("default-src 'none';style-src 'unsafe-inline'");
  expect(page).toMatch(/prefers-color-scheme:dark/);
});

test("it has the curve of each question: spectrum, slower share, what was swept, cost beside gain", async () => {
  const page = await html(smallScenario({ requests: 2_000 }), {
    runs: 2,
    sweeps: ["arrivals.load=0.2..0.6:0.2"],
  });
  const names = [...page.matchAll(/<title id="[a-z]+-t">([^<]*)</g)].map(([, name]) => name);
  expect(names).toEqual([
    "p99 against arrivals.load",
    "Extra load beside gain",
    "Percentile spectrum",
    "Share of requests that are slower",
  ]);
  // Who cannot see them is told what they show, and there are the tables.
  const told = [...page.matchAll(/<desc id="[a-z]+-d">([^<]*)</g)].map(([, said]) => said);
  expect(told).toHaveLength(4);
  for (const said of told) expect(said).toMatch(/round robin: .*\d.*hedged: .*\d/);
  expect(page).toMatch(/<table>.*round robin.*<details>.*<table>/s);
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test("it stays below 60 KB, however much was simulated", async () => {
  const long = "long name ".repeat(30);
  const small = await simulate(jobOf(smallScenario({ requests: 4_000 }), { runs: 2 }));
  const [first] = small.rows as [ReportRow];
  const values = Array.from({ length: 200 }, (_, i) => i / 7);
  // Percentiles to six nines, since a histogram of many values costs as much as one of few.
  const all = first.results?.all as SimResult;
  for (let us = 1; us < 4e6; us *= 1.01) all.latency.record(us, 40_000);
  const rows = Array.from({ length: 12 }, (_, p) =>
    values.map((value) => ({ ...first, name: `${p} ${long}`, at: [value, "x"] })),
  ).flat();
  const axes = [
    { path: `policy.${long}`, values },
    { path: "name", values: ["x"] },
  ];
  const sets = [long, long, long];
  const page = htmlReport({ ...small, title: long, sets, axes, rows, partial: true });
  expect(Buffer.byteLength(page)).toBeLessThan(60_000);
  expect(page).toContain("The first 40 of 2400 rows");
  const unswept = rows.slice(0, 100).map((row) => ({ ...row, at: [] }));
  expect(Buffer.byteLength(htmlReport({ ...small, rows: unswept }))).toBeLessThan(60_000);
});

test("names from a file cannot become markup", async () => {
  const hostile = '<script>alert(1)</script>"&';
  const page = await html(smallScenario({ name: hostile, policies: { [hostile]: {}, b: {} } }), {
    runs: 2,
  });
  expect(page).not.toContain("<script");
  expect(page).toContain("&lt;script&gt;");
});

test("no place in a drawing is not a number, whatever was simulated", async () => {
  const still = { kind: "constant", valueMs: 0 } as const;
  const pages = [
    await html(smallScenario({ size: still, arrivals: { kind: "poisson", ratePerSecond: 5 } })),
    await html(smallScenario({ requests: 20 }), { sweeps: ["cancel=none,queued"] }),
    await html(smallScenario({ requests: 20 }), { sweeps: ["arrivals.load=0.5,0.5"] }),
    await html("cache", { runs: 1, scale: 0.2 }),
    await html("planned-send"),
  ];
  for (const page of pages) expect(page).not.toMatch(/NaN|Infinity|undefined/);
});
