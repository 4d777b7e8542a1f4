import { expect, test } from "vitest";
import { createPalette } from "../terminal/palette.ts";
import { cellWith, figuresWith, reportWith } from "./trial.testbed.ts";
import { trialHtml } from "./trial-html.ts";
import { trialJson } from "./trial-json.ts";
import type { TrialCell } from "./trial-report.ts";
import { trialText } from "./trial-text.ts";

const plain = createPalette(false);
const text = (cells: readonly TrialCell[], some = {}) => trialText(reportWith(cells, some), plain);

const lost = figuresWith({
  p99: "unbounded",
  p999: "unbounded",
  failed: 902,
  failedRatio: 0.07,
  successOnly: { p50Ms: 19, p99Ms: 2_050, p999Ms: 2_300 },
  failures: [["503", 902]],
});
const failing = cellWith({ grade: "F", why: "p99 is 23 x the ideal", figures: lost });
const MANY = [
  "nginx/round-robin",
  "haproxy/random-2",
  "envoy/least-request+hedge-budget+outlier",
  "bobtail",
  "undici/round-robin-pool",
  "a".repeat(70),
];
const SCENARIOS = ["healthy", "slow", "headers-then-silence"];
const big = SCENARIOS.flatMap((scenario) =>
  MANY.map((target, i) => (i === 0 ? { ...failing, scenario } : cellWith({ target, scenario }))),
);

test("the report card is a matrix of grades and p99 beside the ideal, with the worst grade of each", () => {
  const lines = text([failing, cellWith({ target: "bobtail" })]).split("\n");
  const at = lines.findIndex((line) => line.startsWith("scenario"));
  expect(lines.slice(at - 1, at + 3).map((line) => line.split(/ {2,}/))).toEqual([
    ["", "ideal", "nginx/"],
    ["scenario", "p99", "round-robin", "bobtail"],
    ["slow", "90.0 ms", "F 7.0 % fail", "A 95.0 ms"],
    ["worst", "F", "A"],
  ]);
});

test("each scenario shows its question, the ideal and every figure, and why a grade is not an A", () => {
  const card = text([failing]);
  expect(card).toContain("slow: title of slow\nDoes the balancer route round it?\n");
  expect(card).toMatch(/ideal, simulated +15\.0 +90\.0 +140 +90\.0 +0\.0 % +0\.0 % +\+5\.0 %/);
  expect(card).toMatch(
    /F nginx\/round-robin +16\.0 +never +never +2,050 +7\.0 % +1\.0 % +\+3\.0 %/,
  );
  expect(card).toContain("F nginx/round-robin: p99 is 23 x the ideal");
});

test("whatever the names and however many, no line is longer than 80 columns", () => {
  for (const line of text(big, { command: "bobtail trial all --all" }).split("\n"))
    expect(line.length, line).toBeLessThanOrEqual(80);
});

test("cells without a grade say what they are, and why", () => {
  const card = text([
    cellWith({ scenario: "a", state: "not-valid", grade: undefined, why: "It was late." }),
    cellWith({
      scenario: "b",
      state: "died",
      grade: "F",
      why: "signal SIGKILL",
      figures: undefined,
    }),
    cellWith({
      scenario: "c",
      state: "not-started",
      grade: undefined,
      why: "no port",
      figures: undefined,
    }),
  ]);
  expect(card).toMatch(/a +90\.0 ms +not valid\nb +90\.0 ms +F died\nc +90\.0 ms +not started\n/);
  for (const why of ["It was late.", "signal SIGKILL", "no port"]) expect(card).toContain(why);
});

test("a stopped trial says that it is partial, and of how many cells", () => {
  const cells = [cellWith(), cellWith({ scenario: "stalls", state: "stopped", grade: undefined })];
  expect(text(cells, { partial: true, plannedCells: 12 })).toContain(
    "PARTIAL: stopped after 1 of 12",
  );
});

test("a target that is short of CPU is told as that", () => {
  const withCores = (target: number) =>
    text([cellWith({ figures: figuresWith({ cpu: { generator: 0.1, fleet: 0.1, target } }) })]);
  expect(withCores(0.81)).toMatch(/nginx\/round-robin, slow: the target used 0\.81 cores/);
  expect(withCores(0.5)).not.toContain("the target used");
});

test("a slower time scale is said", () => {
  expect(text([cellWith({ factor: 4 })])).toContain("up to 4 times longer");
  expect(text([cellWith()])).not.toContain("times longer and");
});

test("JSON has every figure with its unit, null where there is none, and nothing that JSON has not", () => {
  const json = trialJson(reportWith([failing, cellWith({ scenario: "stalls" })])) as never;
  expect(JSON.parse(JSON.stringify(json))).toEqual(json);
  expect(json).toMatchObject({
    schema: "bobtail.trial/1",
    partial: false,
    setup: { mean_ms: 20 },
    scenarios: [{ name: "slow", oracle: { p99_ms: 90, failed_ratio: 0 } }, { name: "stalls" }],
    cells: [
      {
        grade: "F",
        figures: {
          p99_ms: null,
          p99_bound: "unbounded",
          p50_ms: 16,
          success_only: { p99_ms: 2_050 },
          failures: [{ kind: "503", requests: 902 }],
        },
      },
      { grade: "A", why: "", figures: { p99_ms: 95, p99_bound: "exact", failed_ratio: 0 } },
    ],
  });
});

test("the page is one file that loads nothing and runs nothing, with a chart for each scenario", () => {
  const page = trialHtml(reportWith(big));
  expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|src=|href=|https?:/i);
  expect(page).not.toMatch(/NaN|Infinity|undefined/);
  expect(page.match(/<svg viewBox="0 0 720/g)).toHaveLength(SCENARIOS.length);
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(page).toContain("upstream fleet {}");
  expect(page).toContain("F, 7.0 % fail");
});

test("a name or a configuration cannot become markup", () => {
  const hostile = '<script>alert(1)</script>"&';
  const report = reportWith([cellWith({ target: hostile, scenario: hostile, why: hostile })]);
  const [target] = report.targets;
  const page = trialHtml({
    ...report,
    command: hostile,
    targets: target === undefined ? [] : [{ ...target, config: hostile, warnings: [hostile] }],
  });
  expect(page).not.toContain("<script");
  expect(page).toContain("&lt;script&gt;");
});

test("a trial that was stopped at once still has a page and a card", () => {
  const empty = reportWith([], { partial: true, plannedCells: 6 });
  expect(trialText(empty, plain)).toContain("PARTIAL: stopped after 0 of 6");
  expect(trialHtml(empty)).not.toMatch(/NaN|Infinity|undefined/);
});
