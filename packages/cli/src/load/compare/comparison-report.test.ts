import { seededRng } from "bobtail/engine";
import { expect, test } from "vitest";
import { createPalette } from "../../terminal/palette.ts";
import { refuseMismatch, refuseUnsound } from "./comparable.ts";
import { compareRuns } from "./compare-runs.ts";
import { compareSingles } from "./compare-singles.ts";
import { comparisonHtml } from "./comparison-html.ts";
import { comparisonJson } from "./comparison-json.ts";
import { isWorse, type RunsReport, reportRuns } from "./comparison-report.ts";
import { comparisonText } from "./comparison-text.ts";
import { QUANTITY_NAMES, type RunFigures } from "./quantity.ts";
import { evenSeconds, recordedRun, SETUP } from "./recorded-run.testbed.ts";
import { figuresOf } from "./run-figures.ts";
import { readThresholds } from "./threshold.ts";

const plain = createPalette(false);
const rng = seededRng(2);

interface Sick {
  readonly factor?: number;
  readonly failed?: number;
  readonly timeouts?: number;
}

/** Eight runs of 40 s, each a little faster or slower than the next. */
function runs({ factor = 1, failed = 0, timeouts = 0 }: Sick = {}) {
  return Array.from({ length: 8 }, () =>
    recordedRun({
      secondsMs: evenSeconds(40, factor * (1 + rng.next() / 100)),
      failed,
      timeouts,
    }),
  );
}

function report(a: Sick, b: Sick): RunsReport {
  const names = { nameA: "http://old/", nameB: "http://new/", version: "1.0.0" };
  return reportRuns({ ...names, runsA: runs(a), runsB: runs(b), partial: "", notes: [] }, {});
}

function verdictsOf({ comparison }: RunsReport): Record<string, string> {
  return Object.fromEntries(comparison.compared.map((one) => [one.name, one.verdict.kind]));
}

test("a service that takes half as long again is worse in every percentile, and not in errors and rate", () => {
  const found = report({}, { factor: 1.5 });
  expect(verdictsOf(found)).toEqual({
    p50: "worse",
    p90: "worse",
    p99: "worse",
    "p99.9": "worse",
    errors: "no-difference",
    rate: "no-difference",
  });
  expect(isWorse(found)).toBe(true);
  expect(found.comparison.compared[0]?.shift.estimate).toBeCloseTo(0.5, 1);
});

test("the other way round it is better, and that is no regression", () => {
  const found = report({ factor: 1.5 }, {});
  expect(verdictsOf(found).p99).toBe("better");
  expect(isWorse(found)).toBe(false);
});

test("where nothing differs no difference is said with its size, and p-values alone never say it", () => {
  const found = report({}, {});
  for (const { verdict, shift, threshold } of found.comparison.compared) {
    expect(verdict.kind).toBe("no-difference");
    expect(Math.max(-shift.low, shift.high)).toBeLessThanOrEqual(threshold);
  }
  expect(comparisonText(found, plain)).toContain("no difference larger than");
});

test("failed requests make percentiles unbounded and the error rate worse; the rate of answers falls", () => {
  const found = report({}, { failed: 12 });
  expect(verdictsOf(found)).toMatchObject({ p90: "worse", p99: "worse", errors: "worse" });
  const p99 = found.comparison.compared.find(({ name }) => name === "p99");
  expect(p99?.medianB).toBe(Number.POSITIVE_INFINITY);
  expect(p99?.shift.estimate).toBe(Number.POSITIVE_INFINITY);
  const text = comparisonText(found, plain);
  expect(text).toContain("unbounded");
  expect(text).toContain("8 x");
  expect(text).not.toContain("NaN");
});

test("two sides whose p99 lies among failed requests: cannot tell, and no number of runs is made up", () => {
  const found = report({ failed: 12 }, { failed: 12 });
  const p99 = found.comparison.compared.find(({ name }) => name === "p99");
  expect(p99?.verdict).toEqual({
    kind: "cannot-tell",
    moreRuns: undefined,
    moreRunsIfAsSeen: undefined,
  });
});

test("requests that were given up took longer than anybody waited: they rank as infinite", () => {
  const [run] = runs({ timeouts: 12 });
  expect(run === undefined ? 0 : figuresOf(run).p99).toBe(Number.POSITIVE_INFINITY);
  expect(run === undefined ? 0 : figuresOf(run).errors).toBeCloseTo(12 / 112, 10);
});

test("with 4 + 4 runs and six quantities nothing is called, and the report says why", () => {
  const names = { nameA: "a", nameB: "b", version: "1.0.0", partial: "", notes: [] };
  const [runsA, runsB] = [runs().slice(0, 4), runs({ factor: 3 }).slice(0, 4)];
  const found = reportRuns({ ...names, runsA, runsB }, {});
  expect(new Set(Object.values(verdictsOf(found)))).toEqual(new Set(["cannot-tell"]));
  expect(comparisonText(found, plain)).toContain("at least 5 a side");
  const one = reportRuns({ ...names, runsA, runsB }, { quantities: ["p99"] });
  expect(verdictsOf(one)).toEqual({ p99: "worse" });
});

test("a percentile for which the runs are too small is not compared, and its need is named", () => {
  const run: RunFigures = { p50: 1, p90: 1, p99: 1, "p99.9": undefined, errors: 0, rate: 1 };
  const { compared, leftOut } = compareRuns(Array(8).fill(run), Array(8).fill(run));
  expect(compared.map(({ name }) => name)).not.toContain("p99.9");
  expect(leftOut).toEqual([{ name: "p99.9", needed: 3_688 }]);
});

test.each([
  ["worse", {}, { factor: 1.5, failed: 12 }],
  ["better", { factor: 40 }, {}],
  ["unbounded on both sides", { failed: 12 }, { failed: 12 }],
])("the table fits 80 columns: %s", (_, a, b) => {
  const lines = comparisonText(report(a, b), plain).split("\n");
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
});

test("JSON has the schema, every value of every run, and nothing that JSON cannot say", () => {
  const found = report({}, { failed: 12 });
  const json = comparisonJson(found);
  expect(json).toMatchObject({
    schema: "bobtail.compare/1",
    kind: "runs",
    worse: true,
    partial: false,
    runs_a: 8,
  });
  const text = JSON.stringify(json);
  expect(JSON.parse(text)).toEqual(json);
  const quantities = json.quantities as { name: string; values_b: (number | null)[] }[];
  expect(quantities.map(({ name }) => name)).toEqual([...QUANTITY_NAMES]);
  expect(quantities[2]?.values_b).toEqual(Array(8).fill(null));
});

test("HTML is one file without scripts, and draws each quantity whose runs differ", () => {
  const html = comparisonHtml(report({}, { factor: 1.5 }));
  expect(html).toContain("default-src 'none'");
  expect(html).not.toContain("<script");
  expect(html.match(/<figure>/g)).toHaveLength(4);
});

test("two single runs are described and not judged; half a minute gives intervals, less does not", () => {
  const pair = (seconds: number, factor: number) =>
    [1, factor].map((one) => recordedRun({ secondsMs: evenSeconds(seconds, one) }));
  const text = (seconds: number, factor: number): string => {
    const [a, b] = pair(seconds, factor);
    if (a === undefined || b === undefined) return "";
    const singles = compareSingles(a, b, QUANTITY_NAMES);
    const names = { nameA: "a.json", nameB: "b.json", version: "1.0.0" };
    return comparisonText(
      { kind: "singles", ...names, setup: a.setup, singles, warnings: [] },
      plain,
    );
  };
  const minute = text(60, 2);
  expect(minute).toContain("single runs: describes these two runs only");
  expect(minute).toMatch(/p50 .*\+\d+\.\d % .*\[\+\d+\.\d %, \+\d+\.\d %\]/);
  expect(minute).not.toMatch(/worse|better|no difference/);
  expect(text(20, 2)).toContain("No intervals: that needs runs of 30 s or more");
  for (const line of minute.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

const named = (name: string, change: object = {}, version: string = "1.0.0") => ({
  name,
  version,
  setup: { ...SETUP, ...change },
});

test.each([
  ["rate", { profile: [{ fromPerSec: 400, toPerSec: 400, durationMs: 60_000 }] }],
  ["arrivals", { arrivals: "uniform" }],
  ["duration", { durationMs: 30_000 }],
  ["timeout", { timeoutMs: 1_000 }],
  ["requests", { targets: [{ ...SETUP.targets[0], path: "/other" }] }],
])("runs that differ in %s are not compared, and the field is named", (field, change) => {
  expect(() => refuseMismatch([named("a.json"), named("b.json", change)])).toThrow(
    new RegExp(`a.json and b.json cannot be compared: they differ in .*${field}`),
  );
});

test("another version of the tool is refused; another host and another seed are not", () => {
  expect(() => refuseMismatch([named("a"), named("b", {}, "2.0.0")])).toThrow(
    /tool version \(1.0.0 and 2.0.0\)/,
  );
  const elsewhere = { targets: [{ ...SETUP.targets[0], origin: "http://127.0.0.1:2" }], seed: 9 };
  expect(() => refuseMismatch([named("a"), named("b", elsewhere)])).not.toThrow();
});

test("stored runs that were cut short, or whose generator was the bottleneck, are refused with code 5", () => {
  const run = { ...recordedRun({ secondsMs: evenSeconds(1) }), name: "a.json" };
  expect(() => refuseUnsound([run])).not.toThrow();
  const cut = { ...run, partial: true };
  const limited = { ...run, check: { ...run.check, verdict: "generator-limited" as const } };
  for (const unsound of [cut, limited])
    expect(() => refuseUnsound([unsound])).toThrow(expect.objectContaining({ exitCode: 5 }));
});

test("thresholds: of all percentiles, of time, of one quantity; the last one goes before", () => {
  const read = readThresholds(["10%,2ms", "p99.9=40%,errors=0.5%"]);
  expect(read.changeMs).toBe(2);
  expect(read.changeRatio).toEqual({
    ...{ p50: 0.1, p90: 0.1, p99: 0.1, "p99.9": 0.4, errors: 0.005, rate: 0.1 },
  });
  for (const wrong of ["5", "p98=5%", "0%", "p99=1ms", ""])
    expect(() => readThresholds([wrong])).toThrow(/with its unit/);
});

test("what is said in seconds of a start that had not settled counts the seconds of an interval", () => {
  const slowStart = [...evenSeconds(10, 3), ...evenSeconds(50, 1)];
  const textOf = (lengthMs: number, secondsMs = slowStart): string => {
    const runsOf = () =>
      Array.from({ length: 5 }, () => {
        const durationMs = secondsMs.length * lengthMs;
        const profile = [{ fromPerSec: 500, toPerSec: 500, durationMs }];
        const run = recordedRun({ secondsMs, setup: { profile } });
        const intervals = run.intervals.map((one, i) => ({
          ...one,
          startMs: i * lengthMs,
          lengthMs,
        }));
        return { ...run, intervals };
      });
    const names = { nameA: "http://old/", nameB: "http://new/", version: "1.0.0" };
    const sides = { ...names, runsA: runsOf(), runsB: runsOf(), partial: "", notes: [] };
    return comparisonText(reportRuns(sides, {}), plain).replaceAll(/\s+/g, " ");
  };
  expect(textOf(1_000)).toMatch(/the first 10 s of each run .* Give --warmup 15s/);
  expect(textOf(4_000)).toMatch(/the first 40 s of each run .* Give --warmup 45s/);
  expect(textOf(4_000, evenSeconds(20, 1))).toContain("runs of less than 96 s");
});
