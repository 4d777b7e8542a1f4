import { expect, test } from "vitest";
import { createPalette } from "../terminal/palette.ts";
import { type DemoPhase, type DemoReport, demoJson } from "./demo-report.ts";
import { demoText, whatHappened } from "./demo-text.ts";
import { liveLine } from "./live-line.ts";

const ROUND_ROBIN: DemoPhase = {
  name: "round-robin",
  label: "Round robin",
  p50Ms: 8.04,
  p99Ms: 1057.6,
  p999Ms: 1187,
  p99AllMs: 1050,
  failedRatio: 0.0685,
  slowShareRatio: 0.1,
  extraRatio: 0,
  hedgesWon: 0,
  requests: 51_520,
  sendLagP99Ms: 1.2,
  ownCpuCores: 0.4,
  fleetCpuCores: 0.2,
};
const BOBTAIL: DemoPhase = {
  ...ROUND_ROBIN,
  name: "bobtail",
  label: "Bobtail",
  p99Ms: 47.2,
  p999Ms: 63.4,
  p99AllMs: 47.2,
  failedRatio: 0,
  slowShareRatio: 0.0004,
  extraRatio: 0.041,
  hedgesWon: 900,
};
const REPORT: DemoReport = {
  phases: [ROUND_ROBIN, BOBTAIL],
  factor: 1,
  isTooSlow: false,
  ratePerSec: 2_576,
  stalls: false,
  hedge: true,
  partial: false,
};

const text = (report: DemoReport): string => demoText(report, createPalette(false));
const words = (report: DemoReport): string => text(report).replaceAll("\n", " ");

test("the table has a row a phase, its columns in line", () => {
  expect(text(REPORT).split("\n").slice(0, 3)).toEqual([
    "                 p50        p99      p99.9   failed   to slow backend   extra load",
    "Round robin   8.0 ms   1,058 ms   1,187 ms    6.9 %            10.0 %        0.0 %",
    "Bobtail       8.0 ms      47 ms      63 ms    0.0 %            <0.1 %        4.1 %",
  ]);
});

test("the sentence names the harm, the cure and its price", () => {
  const sentence = whatHappened(REPORT) ?? "";
  for (const part of ["10.0 %", "1,058 ms", "6.9 % failed", "47 ms", "none failed", "4.1 %"])
    expect(sentence).toContain(part);
});

test("no line is wider than a hundred columns", () => {
  const lines = text({ ...REPORT, factor: 8, isTooSlow: true, stalls: true }).split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(100);
});

test("without hedging the sentence speaks of no second copies", () => {
  expect(whatHappened({ ...REPORT, hedge: false })).not.toContain("second one");
});

test("a percentile that the sample cannot support is a dash, null in JSON, and explained", () => {
  const short = { ...BOBTAIL, p999Ms: undefined };
  const report = { ...REPORT, phases: [ROUND_ROBIN, short] };
  expect(text(report).split("\n")[2]).toMatch(/47 ms +- +0\.0 %/);
  expect(text(report)).toContain("too few requests");
  expect(demoJson(report).phases[1]?.p999_ms).toBeNull();
});

test("a run that was stopped says so, and still shows what it has", () => {
  const report = { ...REPORT, phases: [ROUND_ROBIN], partial: true };
  expect(text(report)).toContain("PARTIAL");
  expect(text(report)).toContain("1,187 ms");
  expect(whatHappened(report)).toBeUndefined();
  expect(demoJson(report)).toMatchObject({ partial: true, phases: [{ name: "round-robin" }] });
});

test("a run that was stopped before its first phase prints without a row", () => {
  expect(text({ ...REPORT, phases: [], partial: true })).toContain("No requests");
});

test("a slow machine is told that its times were stretched, and by how much", () => {
  expect(words(REPORT)).not.toContain("slow:");
  expect(words({ ...REPORT, factor: 4 })).toContain("4 times longer");
  expect(words({ ...REPORT, factor: 8, isTooSlow: true })).toContain("too busy");
});

test("the JSON object has exactly the documented keys", () => {
  const json = demoJson(REPORT);
  expect(Object.keys(json)).toEqual(["schema", "phases"]);
  expect(Object.keys(json.phases[0] ?? {})).toEqual([
    "name",
    "p50_ms",
    "p99_ms",
    "p999_ms",
    "p99_all_ms",
    "failed_ratio",
    "slow_share_ratio",
    "extra_ratio",
    "hedges_won",
    "requests",
  ]);
  expect(json.phases.map((phase) => phase.name)).toEqual(["round-robin", "bobtail"]);
});

function shown(isTTY: boolean, moments: readonly [string, number][]): string {
  let out = "";
  const line = liveLine({
    isTTY,
    columns: 40,
    write: (chunk) => {
      out += chunk;
    },
  });
  for (const [label, elapsedMs] of moments)
    line.show({
      label,
      elapsedMs,
      totalMs: 23_000,
      warmingUp: false,
      requests: 1,
      p50Ms: 8,
      p99Ms: undefined,
      failedRatio: 0,
      slowShareRatio: 0.1,
    });
  line.end();
  return out;
}

test("off a terminal there is one line every ten seconds and at each phase, without control codes", () => {
  const out = shown(false, [
    ["Round robin", 500],
    ["Round robin", 1_000],
    ["Round robin", 10_500],
    ["Bobtail", 500],
    ["Bobtail", 1_000],
  ]);
  const starts = out.trimEnd().split("\n");
  expect(starts.map((l) => l.split("  ").slice(0, 2).join(" "))).toEqual([
    "Round robin 0/23 s",
    "Round robin 10/23 s",
    "Bobtail 0/23 s",
  ]);
  expect(out).not.toContain("\u001b");
});

test("on a terminal one line is rewritten, no wider than the screen, and gone at the end", () => {
  const out = shown(true, [
    ["Bobtail", 500],
    ["Bobtail", 1_000],
  ]);
  expect(out).not.toContain("\n");
  expect(out.endsWith("\r\u001b[2K")).toBe(true);
  for (const line of out.split("\r\u001b[2K")) expect(line.length).toBeLessThan(40);
});
