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
  expect(notes[0]).toMatch(/waited up to 400 ms for one of 2048 connections/);
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
