import type { Palette } from "../terminal/palette.ts";
import type { DemoPhase, DemoReport } from "./demo-report.ts";

const WIDTH = 96;

/** The table, the sentence and whatever must be said about the run: what `bobtail demo` prints. */
export function demoText(report: DemoReport, palette: Palette): string {
  const parts = [table(report, palette)];
  const sentence = whatHappened(report);
  if (sentence !== undefined) parts.push(wrap(sentence));
  parts.push(palette.dim(notes(report).map(wrap).join("\n")));
  return `${parts.join("\n\n")}\n`;
}

const COLUMNS: readonly (readonly [string, (phase: DemoPhase) => string])[] = [
  ["p50", (p) => milliseconds(p.p50Ms)],
  ["p99", (p) => milliseconds(p.p99Ms)],
  ["p99.9", (p) => milliseconds(p.p999Ms)],
  ["failed", (p) => percent(p.failedRatio)],
  ["to slow backend", (p) => percent(p.slowShareRatio)],
  ["extra load", (p) => percent(p.extraRatio)],
];

function table(report: DemoReport, palette: Palette): string {
  const head = ["", ...COLUMNS.map(([name]) => name)];
  const rows = report.phases.map((phase) => [
    phase.label,
    ...COLUMNS.map(([, show]) => show(phase)),
  ]);
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("   ")
      .trimEnd();
  return [palette.bold(line(head)), ...rows.map(line)].join("\n");
}

/** One sentence for those who have never read a percentile; undefined when a phase is missing or too short. */
export function whatHappened(report: DemoReport): string | undefined {
  const [before, after] = report.phases;
  if (before?.p99Ms === undefined || after?.p99Ms === undefined) return undefined;
  const late =
    report.hedge && after.extraRatio > 0
      ? `, asked a second one where an answer was late (${percent(after.extraRatio)} more requests),`
      : "";
  return (
    "One backend of ten was five times slower than the rest, yet passed every health check: " +
    `taking turns gave it ${percent(before.slowShareRatio)} of the requests, so that 1 in 100 took over ` +
    `${milliseconds(before.p99Ms)} and ${failures(before)}, while Bobtail gave it ` +
    `${percent(after.slowShareRatio)}${late} and 1 in 100 took over ${milliseconds(after.p99Ms)} and ` +
    `${failures(after)}.`
  );
}

function failures(phase: DemoPhase): string {
  return phase.failedRatio === 0 ? "none failed" : `${percent(phase.failedRatio)} failed`;
}

function notes(report: DemoReport): string[] {
  const { phases, factor, isTooSlow, partial, stalls, ratePerSec } = report;
  const requests = phases.map((phase) => count(phase.requests)).join(" and ");
  const lines: string[] = [];
  if (partial) lines.push("PARTIAL: stopped before its time.");
  lines.push(
    `${requests || "No"} requests at ${count(ratePerSec / factor)} a second, timed from the planned send. ` +
      "Percentiles are over completed requests; a warm-up before each phase is not counted.",
  );
  if (stalls) lines.push("One request in a hundred takes 50 to 150 ms longer, on every backend.");
  if (factor > 1)
    lines.push(
      `This machine is slow: every service time and the queue limit were ${factor} times longer and the rate ` +
        `${factor} times lower, so that the load is the same; the times above are divided by ${factor}.`,
    );
  if (isTooSlow)
    lines.push(
      "This machine was too busy to measure well: its own pauses are in these figures. Run it again when it is quiet.",
    );
  if (phases.some((phase) => phase.p999Ms === undefined))
    lines.push("-: too few requests to tell. A longer --seconds helps.");
  return lines;
}

/** Breaks a paragraph between words. */
function wrap(text: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join("\n");
}

export function milliseconds(ms: number | undefined): string {
  if (ms === undefined) return "-";
  return `${ms < 9.95 ? ms.toFixed(1) : count(ms)} ms`;
}

/** A share too small for the digits shown is not rounded to nothing: none and few must look different. */
export function percent(ratio: number): string {
  if (ratio > 0 && ratio < 0.0005) return "<0.1 %";
  return `${(ratio * 100).toFixed(1)} %`;
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
