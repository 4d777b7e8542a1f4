import { seededRng } from "bobtail/engine";
import { empirical, planHedge } from "bobtail/plan";
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../policy-file/load-policy.ts";
import { createPalette } from "../terminal/palette.ts";
import type { LatencyLog } from "./latency-log.ts";
import { planJson } from "./plan-json.ts";
import { planText } from "./plan-text.ts";
import { planWarnings } from "./plan-warnings.ts";
import { policyDelay, policySnippet } from "./policy-snippet.ts";

const rng = seededRng(1);
const latency = empirical(
  Array.from(
    { length: 20_000 },
    () => 3 + 5 * rng.next() + (rng.next() < 0.02 ? 60 + 60 * rng.next() : 0),
  ),
);
const log: LatencyLog = {
  latency,
  count: latency.count,
  censoredCount: 0,
  pairs: [],
  pairCount: 0,
  skips: [],
  formats: ["csv"],
  isCompressed: false,
  bucketBounds: undefined,
};

function serviceOf(text: string) {
  const reading = parsePolicy(text);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.config.services.leaf;
}

describe("the proposed policy", () => {
  test("is a file that bobtail check accepts, with the planned delay and budget", () => {
    for (const budgetRatio of [0.001, 0.01, 0.02, 0.05, 0.3, 1]) {
      for (const fanOut of [1, 100]) {
        const plan = planHedge({ latency, fanOut, budgetRatio });
        const service = serviceOf(policySnippet(plan));
        expect(service?.options.budget?.extraRatio).toBeCloseTo(budgetRatio, 9);
        const afterMs = service?.options.hedge?.afterMs;
        if (plan.proposed.kind === "no-hedge") expect(afterMs).toBeUndefined();
        else expect(afterMs).toBeCloseTo(plan.proposed.delayMs, 1);
      }
    }
  });

  test("rounds its delay up: an earlier hedge would cost more than was planned", () => {
    expect([14.58601, 14.586, 0.0123456, 1_234.5, 7, 0].map(policyDelay)).toEqual([
      "14.59ms",
      "14.59ms",
      "0.01235ms",
      "1235ms",
      "7ms",
      "0ms",
    ]);
  });

  test("holds no hedge where the load cannot bear one", () => {
    const plan = planHedge({ latency, fanOut: 100, loadRatio: 0.9 });
    expect(plan.load?.isSafe).toBe(false);
    const service = serviceOf(policySnippet(plan));
    expect(service?.options.hedge).toBeUndefined();
  });

  test("says that the budget is the coin, where the best delay has one", () => {
    const plan = planHedge({ latency, quantile: 0.99, budgetRatio: 0.01 });
    expect(plan.proposed.kind).toBe("best");
    expect(plan.proposed.probability).toBeLessThan(1);
    expect(policySnippet(plan)).toMatch(/the budget lets \d+\.\d % of them hedge/);
  });
});

describe("the report", () => {
  const plan = planHedge({ latency, fanOut: 100, withinMs: 20, loadRatio: 0.7 });
  const text = planText(plan, log, { palette: createPalette(false) });

  test("shows gain and cost in one row", () => {
    expect(text).toMatch(/no hedge +- +- +0\.0 % .* ms \[/);
    expect(text).toMatch(/delay that fits the budget .* (4\.\d|5\.0) % .* ms \[/);
    expect(text).toContain("Load: 70.0 % becomes");
    expect(text).toContain("services:");
  });

  test("gives each way to an objective that no hedge meets", () => {
    expect(text).toContain("not met: p99 < 20.0 ms");
    for (const way of [
      "Lower the fan-out to",
      "from a cache",
      "marked as partial",
      "Mend the leaves",
    ])
      expect(text).toContain(way);
  });

  test("warns of few latencies, of shared causes and of the load", () => {
    const kinds = new Set(planWarnings(plan, log).map((warning) => warning.kind));
    expect([...kinds].sort()).toEqual(["correlated", "few-samples", "load"]);
  });

  test("warns of a percentile on a cliff, with both sides of it", () => {
    const stalls = empirical(
      Array.from({ length: 50_000 }, () => 5 + 10 * rng.next() + (rng.next() < 0.01 ? 1_000 : 0)),
    );
    const cliffs = planWarnings(planHedge({ latency: stalls, fanOut: 100 }), log).filter(
      (warning) => warning.kind === "cliff",
    );
    expect(cliffs.map((warning) => warning.text).join("\n")).toMatch(
      /p99 with the proposed hedge .* 30 % more slow calls it is 1,0\d\d ms, with 30 % fewer 2\d\.\d ms/,
    );
  });

  test("does not print a percentile that the log cannot support", () => {
    const short = planHedge({ latency: empirical([1, 2, 3, 4, 50]), fanOut: 10 });
    const row = planText(
      short,
      { ...log, latency: empirical([1, 2, 3, 4, 50]), count: 5 },
      { palette: createPalette(false) },
    );
    expect(row).toMatch(/no hedge +- +- +0\.0 % +- +- +-/);
    const json = JSON.stringify(planJson(short, { ...log, count: 5 }));
    expect(json).toContain('{"quantile":0.99,"latency_ms":null,"low_ms":null,"high_ms":null}');
  });

  test("as JSON has its schema, units in its names and no number that JSON lacks", () => {
    const json = planJson(plan, log);
    expect(json.schema).toBe("bobtail.plan/1");
    expect(json).toMatchObject({ fan_out: 100, meets: false, load: { safe: true } });
    expect(JSON.parse(JSON.stringify(json))).toEqual(json);
  });
});
