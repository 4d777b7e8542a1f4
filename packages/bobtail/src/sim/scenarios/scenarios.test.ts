import { describe, expect, test } from "vitest";
import { scenarioNamed, scenarios } from "./registry.ts";
import type { ScenarioTable } from "./scenario-table.ts";

/** Long by nature, and no conclusion is drawn from them here: `sim-rows.test.ts` does. */
const SMALL = new Set([
  "stale-information",
  "many-clients",
  "supermarket",
  "redundancy-thresholds",
  "live-percentile",
  "hedges-cost-load",
  "paper-fan-out-table",
]);
const tables = new Map<string, ScenarioTable>();

function tableOf(name: string): ScenarioTable {
  const known = tables.get(name);
  if (known !== undefined) return known;
  const scale = SMALL.has(name) ? 0.003 : 0.02;
  const table = scenarioNamed(name)?.run({ runs: 2, scale, seed: 3 });
  if (table === undefined) throw new Error(`no scenario ${name}`);
  tables.set(name, table);
  return table;
}

const value = (name: string, row: string, column: string): number => {
  const found = tableOf(name).rows.find((r) => r.name === row)?.cells[column];
  if (found === undefined) throw new Error(`${name} has no cell ${row}, ${column}`);
  return found.value;
};

test("names are distinct and say what they are", () => {
  const names = scenarios.map((s) => s.name);
  expect(new Set(names).size).toBe(names.length);
  for (const s of scenarios) {
    expect(s.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(s.title.length).toBeGreaterThan(10);
    expect(s.source.length).toBeGreaterThan(10);
  }
});

describe("every built-in scenario runs, fills its table and repeats from its seed", () => {
  for (const { name } of scenarios.filter((s) => !s.name.startsWith("golden"))) {
    test(name, () => {
      const table = tableOf(name);
      expect(table.name).toBe(name);
      expect(table.rows.length).toBeGreaterThan(1);
      for (const row of table.rows) {
        for (const { key } of table.columns) {
          const cell = row.cells[key];
          if (cell === undefined) continue;
          expect(Number.isFinite(cell.value), `${row.name}, ${key}`).toBe(true);
          if (cell.low !== undefined) expect(cell.low).toBeLessThanOrEqual(cell.high as number);
        }
      }
    });
  }

  test("the same seed, the same table; progress ends at 1", () => {
    const done: number[] = [];
    const run = () =>
      scenarioNamed("slow-key")?.run({
        runs: 2,
        scale: 0.02,
        seed: 3,
        onProgress: (d) => done.push(d),
      });
    expect(run()).toEqual(tableOf("slow-key"));
    expect(done.at(-1)).toBe(1);
  });
});

test("what the articles conclude holds in these tables too", () => {
  expect(value("slow-backend", "round robin", "failed")).toBeGreaterThan(0.03);
  expect(value("slow-backend", "two choices", "failed")).toBe(0);
  expect(value("slow-backend", "least outstanding, stale", "p50")).toBeGreaterThan(
    2 * value("slow-backend", "two choices, stale", "p50") * 0.8,
  );
  expect(value("fails-fast", "least outstanding", "toSlow")).toBeGreaterThan(0.1);
  expect(value("fails-fast", "least, error penalty", "toSlow")).toBeLessThan(0.1);
  expect(value("hedge-delays", "after p95, slowness shared", "p50")).toBe(
    value("hedge-delays", "no hedging", "p50"),
  );
  expect(value("slow-key", "hedge after 10 ms", "p99")).toBeGreaterThan(100);
  expect(value("planned-send", "from the planned send", "late")).toBe(101);
  expect(value("planned-send", "from the actual send", "late")).toBe(1);
  expect(value("metastable-hedge", "load 0.70, unguarded", "p99")).toBeGreaterThan(
    3 * value("metastable-hedge", "load 0.70, cancel and budget", "p99"),
  );
  expect(value("thousand-keys", "hedge after 10 ms", "p99")).toBeLessThan(
    value("thousand-keys", "no hedge", "p99") / 5,
  );
  expect(value("cache", "working set 1 x the cache", "p99")).toBeLessThan(
    value("cache", "working set 1.1 x the cache", "p99") / 5,
  );
});
