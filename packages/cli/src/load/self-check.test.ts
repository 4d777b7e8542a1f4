import { expect, test } from "vitest";
import { fitDescriptors } from "./descriptor-limit.ts";
import { checkLoadOptions } from "./load-plan.ts";
import { emptySection, type LoadSection, type SelfCheck } from "./load-report.ts";
import { checkRun } from "./self-check.ts";

const PLAN = checkLoadOptions({ url: "http://a/", ratePerSec: 100, durationMs: 1_000 });

function check(fill: (section: LoadSection) => void): SelfCheck {
  const section = emptySection(1_000);
  fill(section);
  return checkRun(PLAN, section, [], { cpuCores: 0.1, descriptorLimit: 1_024 });
}

function fillMs(section: LoadSection, lagMs: number, responseMs: number): void {
  section.pacingLag.record(lagMs * 1_000, 1_000);
  section.all.record(responseMs * 1_000, 1_000);
}

test.each([
  ["late by 1.9 ms", 1.9, 5, "ok"],
  ["late by 3 ms beside 5 ms", 3, 5, "generator-limited"],
  ["late by 3 ms beside 100 ms", 3, 100, "ok"],
  ["late by 30 ms beside 100 ms", 30, 100, "generator-limited"],
])("the verdict on requests that leave %s is: %s", (_, lagMs, responseMs, verdict) => {
  expect(check((section) => fillMs(section, lagMs, responseMs)).verdict).toBe(verdict);
});

test.each([
  [100, "p95", 0.05, "ok"],
  [100, "p95", 0.2, "generator-limited"],
  [367, "p95", 0.02, "ok"],
  [368, "p99", 0.02, "generator-limited"],
  [5, "none", 0.8, "ok"],
])(
  "of %i requests this is judged: %s; with a share of %d late, the run is %s",
  (count, name, lateRatio, verdict) => {
    const late = Math.round(count * lateRatio);
    const found = check((section) => {
      section.pacingLag.record(30_000, late);
      section.pacingLag.record(100, count - late);
      section.all.record(5_000, count);
    });
    expect(found.verdict).toBe(verdict);
    if (verdict !== "ok")
      expect(found.reasons).toEqual([
        `requests left up to 30 ms late beside a response time of 5.0 ms (${name})`,
      ]);
    // What is told of the lag is told under the same rule.
    expect(Number.isNaN(found.sendLagP99Ms)).toBe(count < 368);
  },
);

test("one dropped request makes the run the generator's", () => {
  const { verdict, reasons } = check((section) => {
    fillMs(section, 0.1, 5);
    section.ledger.dropped = 1;
  });
  expect(verdict).toBe("generator-limited");
  expect(reasons[0]).toMatch(/1 of 1000 requests were dropped: 2048 were already in flight/);
});

test("load 18: waiting for a configured connection is named, and no fault of the generator", () => {
  const { verdict, notes } = check((section) => {
    fillMs(section, 0.1, 500);
    section.queueing.record(400_000, 1_000);
  });
  expect([verdict, notes.length]).toEqual(["ok", 1]);
  expect(notes[0]).toMatch(/waited up to 400 ms \(p99\) for one of 2048 connections/);
});

test("a run of which nothing came back is still judged", () => {
  const { verdict, sendLagP99Ms, loopDelayP99Ms } = check(() => {});
  expect(verdict).toBe("ok");
  expect([sendLagP99Ms, loopDelayP99Ms]).toEqual([Number.NaN, Number.NaN]);
});

test("more connections than the process may have open files are refused up front, a default is lowered", () => {
  expect(fitDescriptors(PLAN, {}, 1_024).connections).toBe(896);
  expect(fitDescriptors(PLAN, {}, undefined)).toBe(PLAN);
  expect(() => fitDescriptors(PLAN, { connections: 2_048 }, 1_024)).toThrow(
    "2048 connections do not fit: this process may have 1024 files open",
  );
});

test("where every request failed at once, a late generator has changed nothing", () => {
  const { verdict, reasons } = check((section) => {
    section.pacingLag.record(30_000, 1_000);
    section.ledger.planned = section.ledger.sent = section.ledger.transportErrors = 1_000;
  });
  expect([verdict, reasons]).toEqual(["ok", []]);
});
