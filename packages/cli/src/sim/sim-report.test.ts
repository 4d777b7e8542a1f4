import { scenarioNamed } from "bobtail/sim";
import { expect, test } from "vitest";
import { createPalette } from "../terminal/palette.ts";
import { taskComputer, workOrderOf } from "./compute-task.ts";
import { htmlReport } from "./html-report.ts";
import { compute, jobOf, simulate, smallScenario, VERSION } from "./scenario.testbed.ts";
import { simCsv } from "./sim-csv.ts";
import { simJson } from "./sim-json.ts";
import { planJob } from "./sim-plan.ts";
import { type ReportRow, reportOf } from "./sim-report.ts";
import { simText } from "./sim-text.ts";

const plain = createPalette(false);
const text = async (...job: Parameters<typeof jobOf>): Promise<string> =>
  simText(await simulate(jobOf(...job)), plain);

test("a percentile that the sample does not carry is a dash in the table and null with its reason in JSON", async () => {
  const report = await simulate(jobOf(smallScenario({ requests: 400 })));
  expect(simJson(report)).toMatchObject({
    rows: [
      { values: { p99_ms: { value: null, reason: expect.stringMatching(/needs 370 requests/) } } },
      { values: { p50_ms: { value: expect.any(Number) } } },
    ],
  });
  const [, row] = /^round robin +(.*)$/m.exec(simText(report, plain)) ?? [];
  expect(row).toMatch(/^[\d.]+ +- +- /);
});

test("one run gets its interval from batches that each carry the percentile, several from each other", async () => {
  const cellOf = async (runs: number, requests: number): Promise<ReportRow["cells"]> => {
    const report = await simulate(jobOf(smallScenario({ requests }), { runs }));
    return report.rows[0]?.cells ?? {};
  };
  const once = await cellOf(1, 4_000);
  expect(once.p50?.low).toBeLessThan(once.p50?.value ?? 0);
  // A twentieth of 3,600 has 1.8 requests beyond the p99.
  expect(once.p99).toMatchObject({ value: expect.any(Number) });
  expect(once.p99?.low).toBeUndefined();
  expect(once.extra?.low).toBeUndefined();

  const thrice = await cellOf(3, 1_000);
  expect(thrice.p99?.low).toBeLessThan(thrice.p99?.high ?? 0);
  expect(thrice.extra?.low).toBeDefined();
  // Together they carry the p99, each of them does not.
  const short = await cellOf(3, 400);
  expect(short.p99).toMatchObject({ value: expect.any(Number) });
  expect(short.p99?.low).toBeUndefined();
});

test.each(["slow-backend", "metastable-hedge", "supermarket", "cache", "single-server"])(
  "%s: the command's figures are the scenario's own",
  async (name) => {
    const options = {
      runs: 2,
      seed: 3,
      scale: name === "cache" || name === "single-server" ? 0.2 : 0.01,
    };
    const report = await simulate(jobOf(name, options));
    const table = scenarioNamed(name)?.run(options);
    expect(report.rows.map((row) => row.name)).toEqual(table?.rows.map((row) => row.name));
    for (const [i, row] of report.rows.entries()) {
      for (const [key, cell] of Object.entries(row.cells)) {
        if (cell.value === null) continue;
        expect(cell.value).toBe(table?.rows[i]?.cells[key]?.value);
        expect(cell.exact).toBe(table?.rows[i]?.cells[key]?.exact);
      }
    }
  },
);

test("published and exact figures stand beside a built-in scenario, and go when it is changed", async () => {
  const scaled = { runs: 1, scale: 0.01 };
  expect(await text("slow-backend", scaled)).toMatch(/^ {2}published .*\n {2}exact /m);
  const changed = await text("slow-backend", { ...scaled, sets: ["arrivals.load=0.5"] });
  expect(changed).not.toMatch(/published {2}|exact {2}/);
  expect(changed).toMatch(/Changed by --set or --sweep/);
});

test("tables keep to 80 columns", async () => {
  const jobs = [
    jobOf("slow-backend", { runs: 2, scale: 0.01 }),
    jobOf("no-deadline", { runs: 2, scale: 0.01 }),
    jobOf("single-server", { runs: 2, scale: 0.2 }),
    jobOf(smallScenario(), { sweeps: ["arrivals.load=0.2,0.4", "servers[1].slowdown=1,2"] }),
  ];
  for (const job of jobs) {
    const long = simText(await simulate(job), plain)
      .split("\n")
      .filter((line) => line.length > 80);
    expect(long).toEqual([]);
  }
});

test("a scenario that is no world has nothing to set", async () => {
  await expect(planJob(jobOf("cache", { sets: ["a=1"] }))).rejects.toThrow(
    /--set a=1: cache is computed/,
  );
  await expect(planJob(jobOf("cache", { scale: 0.01 }))).rejects.toThrow(/too few samples/);
  await expect(planJob(jobOf("slow-backnd"))).rejects.toMatchObject({
    remedy: "Did you mean slow-backend?",
  });
});

test("a partial result says so everywhere, and gives what is done", async () => {
  const plan = await planJob(jobOf(smallScenario(), { runs: 3 }));
  const all = compute(plan);
  const some = new Map([...all].slice(0, 3));
  const report = reportOf(plan, some, { version: VERSION, sets: [] });
  expect(simJson(report)).toMatchObject({ partial: true, done_runs: 3, total_runs: 6 });
  expect(simText(report, plain)).toMatch(/^PARTIAL: ended after 3 of 6 runs\./);
  expect(htmlReport(report)).toContain("PARTIAL: ended after 3 of 6 runs.");
  const none = reportOf(plan, new Map(), { version: VERSION, sets: [] });
  expect(simText(none, plain)).toMatch(/round robin.* -/);
  expect(htmlReport(none)).toContain("0 runs");
});

test("CSV has a column for each field with its unit, and its ends where they are known", async () => {
  const scenario = smallScenario({ policies: { 'a "b", c': {}, "=x": {} } });
  const job = jobOf(scenario, { runs: 2, sweeps: ["arrivals.load=50%,60%"] });
  const [head, first, , third] = simCsv(await simulate(job)).split("\n");
  expect(head).toMatch(/^row,arrivals\.load,runs,p50_ms,p50_ms_low,p50_ms_high,p99_ms,/);
  expect(head).toMatch(/failed_ratio/);
  expect(first).toMatch(/^"a ""b"", c",0\.5,2,[\d.]+,/);
  // A sheet must not compute a policy's name.
  expect(third).toMatch(/^'=x,/);
});

test("each run has a digest of its decisions that another thread or machine would repeat", async () => {
  const plan = await planJob(jobOf(smallScenario(), { runs: 2 }));
  const [a, b] = [taskComputer(workOrderOf(plan)), taskComputer(workOrderOf(plan))];
  expect(b(3)).toEqual(a(3));
  const { rows } = simJson(await simulate(jobOf(smallScenario(), { runs: 2 }))) as {
    rows: { digests: string[] }[];
  };
  expect(new Set(rows.flatMap((row) => row.digests)).size).toBe(4);
});
