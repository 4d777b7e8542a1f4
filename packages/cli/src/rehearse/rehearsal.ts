import { isSupported } from "bobtail/plan";
import {
  busyRatio,
  extraRatio,
  failedRatio,
  type Interval,
  intervalOf,
  quantileMs,
  type Scenario,
  type ServiceOptions,
  type SimResult,
  shareOf,
  World,
} from "bobtail/sim";
import type { Trace } from "./trace.ts";

/** A policy to rehearse. */
export interface Candidate {
  /** Its file. */
  readonly name: string;
  readonly options: ServiceOptions;
  /** Each stands for the server of its place. */
  readonly endpoints: readonly RehearsedEndpoint[];
}

/** What the policy believes of a server, whatever the server can do. */
export interface RehearsedEndpoint {
  /** Relative to the others; above 0. */
  readonly weight: number;
  readonly virtual: boolean;
}

/** Whether their weights differ. */
export function hasWeights(endpoints: readonly RehearsedEndpoint[]): boolean {
  return endpoints.some(({ weight }) => weight !== endpoints[0]?.weight);
}

/** The servers before which the policies are rehearsed. */
export interface Stage {
  readonly workers: number | "unlimited";
  /** Workers of servers that have others than `workers`, by place of the server. Default none. */
  readonly workersOf?: ReadonlyMap<number, number> | undefined;
  /** Factors by place of the server; every other is 1. */
  readonly slow: ReadonlyMap<number, number>;
  readonly queueTimeoutMs: number | undefined;
  readonly copies: "same-size" | "independent";
  readonly cancel: "none" | "queued" | "running";
  readonly warmUpRatio: number;
  /** Replications: the same trace, other luck. */
  readonly runs: number;
  readonly seed: number;
}

const QUANTILES = [
  ["p50", 0.5],
  ["p99", 0.99],
  ["p999", 0.999],
] as const;

type QuantileName = (typeof QUANTILES)[number][0];

/** Statistics of the replications of one policy. Latencies are of calls that succeeded. */
export interface RehearsedRow {
  readonly name: string;
  /** Undefined: the trace is too short for that quantile. */
  readonly latencyMs: Readonly<Record<QuantileName, Interval | undefined>>;
  /** Relative to the first policy, run by run on the same requests: -0.2 is a fifth less. Absent in its own row. */
  readonly change: Readonly<Record<QuantileName, Interval | undefined>> | undefined;
  readonly failedRatio: Interval;
  /** Extra copies for each call. */
  readonly extraRatio: Interval;
  /** Of the workers' time; NaN without workers. */
  readonly busyRatio: Interval;
  /** Of all copies, by server. */
  readonly shareRatios: readonly number[];
  readonly results: readonly SimResult[];
}

/** Runs every policy against the trace. Calls back before each run, and lets other work in between. */
export async function rehearseAll(
  candidates: readonly Candidate[],
  trace: Trace,
  stage: Stage,
  onRun?: (name: string, run: number) => void,
): Promise<RehearsedRow[]> {
  const rows: RehearsedRow[] = [];
  for (const candidate of candidates) {
    const results: SimResult[] = [];
    for (let run = 0; run < stage.runs; run++) {
      onRun?.(candidate.name, run);
      await new Promise((resolve) => setImmediate(resolve));
      const scenario = scenarioOf(candidate, trace, stage);
      const options = { ...scenario, policy: candidate.options, seed: stage.seed + run };
      results.push(new World(options, { digest: false }).run());
    }
    rows.push(rowOf(candidate, results, rows[0]));
  }
  return rows;
}

/** The servers are of the stage and alike for all policies; only what is believed of them is the policy's. */
function scenarioOf({ endpoints }: Candidate, trace: Trace, stage: Stage): Scenario {
  const { workers, workersOf, slow, queueTimeoutMs, copies, cancel, warmUpRatio } = stage;
  const { atMs, sizeMs } = trace;
  return {
    servers: endpoints.map(({ weight, virtual }, i) => ({
      weight,
      virtual,
      workers: workersOf?.get(i) ?? workers,
      slowdown: slow.get(i) ?? 1,
      queueTimeoutMs,
    })),
    size: { kind: "empirical", valuesMs: sizeMs },
    arrivals: { kind: "trace", atMs, sizeMs },
    requests: atMs.length,
    copies,
    cost: "one",
    cancel,
    warmUpRatio,
  };
}

function rowOf(
  { name, endpoints }: Candidate,
  results: readonly SimResult[],
  first: RehearsedRow | undefined,
): RehearsedRow {
  const over = (statistic: (r: SimResult) => number): Interval =>
    intervalOf(results.map(statistic));
  return {
    name,
    latencyMs: byQuantile((quantile) =>
      isKnown(results, quantile) ? over((r) => quantileMs(r, quantile)) : undefined,
    ),
    change:
      first === undefined
        ? undefined
        : byQuantile((quantile) => changeOf(results, first.results, quantile)),
    failedRatio: over(failedRatio),
    extraRatio: over(extraRatio),
    busyRatio: over(busyRatio),
    shareRatios: endpoints.map((_, i) => over((r) => shareOf(r, i)).mean),
    results,
  };
}

/** The same seeds meet the same requests, so what differs in a pair of runs is the policy. */
function changeOf(
  results: readonly SimResult[],
  base: readonly SimResult[],
  quantile: number,
): Interval | undefined {
  if (!isKnown(results, quantile) || !isKnown(base, quantile)) return undefined;
  return intervalOf(
    results.map((r, i) => quantileMs(r, quantile) / quantileMs(base[i] as SimResult, quantile) - 1),
  );
}

function isKnown(results: readonly SimResult[], quantile: number): boolean {
  return results.every((r) => isSupported(r.latency.count, quantile));
}

function byQuantile<T>(value: (quantile: number) => T): Record<QuantileName, T> {
  const [p50, p99, p999] = QUANTILES.map(([, quantile]) => value(quantile)) as [T, T, T];
  return { p50, p99, p999 };
}
