import { intervalOf } from "../interval.ts";
import { mergeResults, type SimResult } from "../result.ts";
import { busyRatio, extraRatio, failedRatio, quantileMs } from "../result-views.ts";
import type { WorldOptions } from "../scenario.ts";
import { World } from "../world.ts";

export interface Column {
  readonly key: string;
  readonly title: string;
  /** How a value is shown: `ratio` as a percentage, `ms` in milliseconds, `number` as it is. */
  readonly unit: "ms" | "ratio" | "number";
  readonly digits: number;
}

/** A measured value, its 95 % interval where there were several runs, and what it stands beside. */
export interface Cell {
  readonly value: number;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  /** What the article printed. */
  readonly article?: number | undefined;
  /** What theory says. */
  readonly exact?: number | undefined;
}

export interface TableRow {
  readonly name: string;
  readonly cells: Readonly<Record<string, Cell>>;
}

export interface ScenarioTable {
  readonly name: string;
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly TableRow[];
  readonly notes: readonly string[];
}

export interface ScenarioRunOptions {
  /** Independent replications; a whole number >= 1, default 5. Intervals need two. */
  readonly runs?: number | undefined;
  /** The first run's; the others follow. Default 1. */
  readonly seed?: number | undefined;
  /** Multiplies the number of requests; above 0, default 1. */
  readonly scale?: number | undefined;
  /** Told the share of the work that is done, in [0, 1]. */
  readonly onProgress?: ((doneRatio: number) => void) | undefined;
  /** Computes the rows in another way: on several threads, or changed. Default: here, one after the other. */
  readonly rowsBy?: RowRunner | undefined;
}

/** Told what the rows of a scenario are; its answer becomes the table's rows. */
export interface RowRunner {
  /** The number of requests is scaled already. */
  worlds(
    rows: readonly WorldRow[],
    statistics: Readonly<Record<string, Statistic>>,
  ): readonly TableRow[];
  samples(rows: readonly SampleRow[]): readonly TableRow[];
}

/** One table or exercise of the sources, by name. */
export interface BuiltInScenario {
  readonly name: string;
  readonly title: string;
  /** What it repeats. */
  readonly source: string;
  /** Its table is computed as a whole: it has no rows that another could compute, and no runs. Default false. */
  readonly isWhole?: boolean | undefined;
  run(options?: ScenarioRunOptions): ScenarioTable;
}

/** A statistic of a run, for a column of that key. */
export type Statistic = (result: SimResult) => number;

export interface WorldRow {
  readonly name: string;
  readonly world: Omit<WorldOptions, "seed">;
  readonly article?: Readonly<Record<string, number>> | undefined;
  readonly exact?: Readonly<Record<string, number>> | undefined;
}

/** Figures that are computed by a function of the seed, not by a world. */
export interface SampleRow {
  readonly name: string;
  readonly sample: (seed: number) => Readonly<Record<string, number>>;
  readonly article?: Readonly<Record<string, number>> | undefined;
  readonly exact?: Readonly<Record<string, number>> | undefined;
}

/** The runs of each row on the same seeds, so that rows differ by what they are and not by their luck. */
export function runWorlds(
  rows: readonly WorldRow[],
  statistics: Readonly<Record<string, Statistic>>,
  options: ScenarioRunOptions,
): TableRow[] {
  const { runs = 5, seed = 1, scale = 1, onProgress, rowsBy } = options;
  const sized = rows.map((row) => {
    const requests = scaled(row.world.requests, scale);
    return { ...row, world: { ...row.world, requests } };
  });
  if (rowsBy !== undefined) return [...rowsBy.worlds(sized, statistics)];
  return sized.map((row, at) => {
    const results = Array.from({ length: runs }, (_, run) => {
      const result = new World({ ...row.world, seed: seed + run }, { digest: false }).run();
      onProgress?.((at + (run + 1) / runs) / rows.length);
      return result;
    });
    return worldTableRow(row, results, statistics);
  });
}

/** What several runs of one world showed: statistics of their sum, intervals between them. */
export function worldTableRow(
  { name, article, exact }: Omit<WorldRow, "world">,
  results: readonly SimResult[],
  statistics: Readonly<Record<string, Statistic>>,
): TableRow {
  const all = mergeResults(results);
  const cells = Object.entries(statistics).map(([key, statistic]) => {
    const { low, high } = intervalOf(results.map(statistic));
    return [
      key,
      cell({ value: statistic(all), low, high, article: article?.[key], exact: exact?.[key] }),
    ];
  });
  return { name, cells: Object.fromEntries(cells) as Record<string, Cell> };
}

/** The same for figures that are computed by a function of the seed, not by a world. */
export function runSamples(rows: readonly SampleRow[], options: ScenarioRunOptions): TableRow[] {
  const { runs = 5, seed = 1, onProgress, rowsBy } = options;
  if (rowsBy !== undefined) return [...rowsBy.samples(rows)];
  return rows.map((row, at) => {
    const samples = Array.from({ length: runs }, (_, run) => {
      const values = row.sample(seed + run);
      onProgress?.((at + (run + 1) / runs) / rows.length);
      return values;
    });
    return sampleTableRow(row, samples);
  });
}

export function sampleTableRow(
  { name, article, exact }: Omit<SampleRow, "sample">,
  samples: readonly Readonly<Record<string, number>>[],
): TableRow {
  const cells = Object.keys(samples[0] ?? {}).map((key) => {
    const { mean, low, high } = intervalOf(samples.map((s) => s[key] as number));
    return [key, cell({ value: mean, low, high, article: article?.[key], exact: exact?.[key] })];
  });
  return { name, cells: Object.fromEntries(cells) as Record<string, Cell> };
}

export function scaled(count: number, scale: number): number {
  return Math.max(20, Math.round(count * scale));
}

/** Without the fields that say nothing, so that it prints and compares as plain data. */
function cell(values: Cell): Cell {
  const known = Object.entries(values).filter(
    ([, value]) => value !== undefined && !Number.isNaN(value),
  );
  return { value: values.value, ...Object.fromEntries(known) };
}

export const LATENCY_COLUMNS: readonly Column[] = [
  { key: "p50", title: "p50", unit: "ms", digits: 1 },
  { key: "p99", title: "p99", unit: "ms", digits: 0 },
  { key: "p999", title: "p99.9", unit: "ms", digits: 0 },
];
export const FAILED_COLUMN: Column = { key: "failed", title: "failed", unit: "ratio", digits: 2 };
export const EXTRA_COLUMN: Column = { key: "extra", title: "extra", unit: "ratio", digits: 1 };
export const BUSY_COLUMN: Column = { key: "busy", title: "busy", unit: "ratio", digits: 1 };

export const LATENCIES: Readonly<Record<string, Statistic>> = {
  p50: (r) => quantileMs(r, 0.5),
  p99: (r) => quantileMs(r, 0.99),
  p999: (r) => quantileMs(r, 0.999),
};
export const FAILED: Readonly<Record<string, Statistic>> = { failed: failedRatio };
export const EXTRA: Readonly<Record<string, Statistic>> = { extra: extraRatio };
export const BUSY: Readonly<Record<string, Statistic>> = { busy: busyRatio };
