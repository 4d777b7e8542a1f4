import { expect, test } from "vitest";
import { createPalette } from "../../terminal/palette.ts";
import { inventedRun } from "./run-record.testbed.ts";
import type { RunRecord } from "./run-record.ts";
import { sweepEnd } from "./sweep-text.ts";

const row = (ratePerSec: number, verdict: "held" | "failed", isLimited: boolean): RunRecord =>
  inventedRun({
    options: { ratePerSec },
    verdicts: [{ condition: "p99>50ms", verdict, measured: "12.0 ms" }],
    check: { verdict: isLimited ? "generator-limited" : "ok" },
  });

test("each condition is told with the rate that it was judged at, and a spoiled row is not judged", () => {
  const runs = [row(100, "held", false), row(200, "failed", false), row(400, "failed", true)];
  const text = sweepEnd({ kind: "sweep", runs, stopped: undefined }, createPalette(false));
  expect(text.split("\n").slice(-3)).toEqual([
    "    100/s  passed: --fail-if p99>50ms: measured 12.0 ms",
    "    200/s  FAILED: --fail-if p99>50ms: measured 12.0 ms",
    "    400/s  not judged: generator-limited",
  ]);
  expect(text).toMatch(/1 row says nothing of the target.*\n?.*--max-in-flight/);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("where every row stands nothing is said of the generator", () => {
  const runs = [row(100, "held", false)];
  const text = sweepEnd({ kind: "sweep", runs, stopped: "past saturation" }, createPalette(false));
  expect(text).not.toContain("generator");
  expect(text).toContain("Ended early: past saturation.");
});
