import { expect, test } from "vitest";
import { loadHtml } from "./load-html.ts";
import { inventedRun, stalledMs } from "./run-record.testbed.ts";

const VERDICTS = [
  { condition: "p99>50ms", verdict: "failed", measured: "480 ms" },
  { condition: "errors>1%", verdict: "held", measured: "0.0 %" },
] as const;
const stalled = () =>
  inventedRun({
    options: { ratePerSec: 500, durationMs: 60_000 },
    outcome: (i) => (i > 20_000 && i < 20_600 ? "refused" : latency(i)),
    verdicts: VERDICTS,
  });
const latency = stalledMs(30_000);

test("the report is one file that loads nothing and runs nothing", () => {
  const page = loadHtml({ kind: "run", run: stalled() }, "0.1.0");
  expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|src=|href=/i);
  expect(page).toContain("default-src 'none';style-src 'unsafe-inline'");
  expect(page).toMatch(/prefers-color-scheme:dark/);
});

test("it has both clocks' curves, the heat map with its strip of failures, and each threshold with its verdict", () => {
  const page = loadHtml({ kind: "run", run: stalled() }, "0.1.0");
  const names = [...page.matchAll(/<title id="[a-z]+-t">([^<]*)</g)].map(([, name]) => name);
  expect(names).toEqual([
    "Latency over time",
    "Percentile spectrum",
    "Share of requests that are slower",
  ]);
  expect(page).toContain("response, from the planned send");
  expect(page).toContain("service, from the request written");
  expect(page.match(/class="x"/g)?.length).toBeGreaterThanOrEqual(1);
  expect(page).toMatch(/p99&gt;50ms<\/td><td>480 ms<\/td><td>FAILED/);
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test("it stays below 60 KB, however long and however mixed the run was", () => {
  let state = 1;
  const wild = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return 0.05 * 60_000 ** (state / 2_147_483_647);
  };
  const run = inventedRun({
    options: { ratePerSec: 300, durationMs: 1_000_000, timeoutMs: 20_000 },
    outcome: (i) => (i % 37 === 0 ? "http-error" : wild()),
    verdicts: Array.from({ length: 80 }, () => VERDICTS[0]),
  });
  const page = loadHtml({ kind: "run", run }, "0.1.0");
  expect(Buffer.byteLength(page)).toBeLessThan(60_000);
  expect(page).not.toMatch(/NaN|Infinity|undefined/);
});

test("a sweep has its own drawing, and one that is all failures draws its crosses", () => {
  const runs = [50, 100, 200, 400].map((ratePerSec) =>
    inventedRun({
      options: { ratePerSec },
      outcome: (i) => (ratePerSec === 400 && i % 2 === 0 ? "refused" : ratePerSec / 10 + (i % 7)),
    }),
  );
  const page = loadHtml({ kind: "sweep", runs, stopped: "past saturation: <b>" }, "0.1.0");
  expect(page).toContain('<title id="rate-t">Latency against rate');
  expect(page).toContain("&lt;b&gt;");
  expect(page).not.toMatch(/NaN|Infinity|undefined/);
  const none = inventedRun({ outcome: () => "refused" });
  for (const result of [
    { kind: "run", run: none },
    { kind: "sweep", runs: [none, none], stopped: undefined },
    { kind: "sweep", runs: [], stopped: undefined },
  ] as const)
    expect(loadHtml(result, "0.1.0")).not.toMatch(/NaN|Infinity|undefined/);
});

test("names from the command line cannot become markup", () => {
  const run = inventedRun({ options: { url: "http://127.0.0.1/<script>alert(1)</script>" } });
  const page = loadHtml({ kind: "run", run }, '"><script>');
  expect(page).not.toContain("<script");
});
