import type { Histogram } from "bobtail/engine";
import { showCount, showPercent, showQuantile } from "../../plan/figures.ts";
import type { LoadInterval, LoadSection } from "../load-report.ts";
import { HISTOGRAM_NAMES, type HistogramName } from "../section-codec.ts";
import {
  type Figure,
  figureOf,
  headlineCount,
  headlineFigure,
  REPORT_QUANTILES,
} from "./percentiles.ts";
import type { LoadResult, Probe, RunRecord } from "./run-record.ts";
import { setupHash } from "./run-setup.ts";
import { slowEpisodes } from "./slow-episodes.ts";
import { snakeKey, toSnakeCase } from "./snake-case.ts";

export const LOAD_SCHEMA = "bobtail.load/1";

/** The tag of each clock's series in a histogram log. */
export const CLOCK_TAGS: Readonly<Record<HistogramName, string>> = {
  completed: "ok",
  all: "response",
  failed: "failed",
  service: "service",
  pacingLag: "pacing-lag",
  queueing: "queueing",
  sendLag: "send-lag",
  connect: "connect",
  firstByte: "first-byte",
  eventGap: "event-gap",
};

/** What a command measured as one object, with all that is needed to show it again. */
export function resultJson(result: LoadResult, version: string): Record<string, unknown> {
  const head = { schema: LOAD_SCHEMA, kind: result.kind, version };
  switch (result.kind) {
    case "run":
      return { ...head, ...runJson(result.run) };
    case "sweep":
      return {
        ...head,
        stopped: result.stopped ?? null,
        runs: result.runs.map((run) => runJson(run)),
      };
    case "limit":
      return {
        ...head,
        objective: result.objective,
        rate_per_sec: result.ratePerSec ?? null,
        because: result.because,
        probes: result.probes.map(probeJson),
      };
  }
}

function probeJson({ ratePerSec, phase, outcome, measured, run }: Probe): Record<string, unknown> {
  return { rate_per_sec: ratePerSec, phase, outcome, measured, run: runJson(run) };
}

/** One run. `histograms: false` leaves out what is only of use to read it back. */
export function runJson(
  run: RunRecord,
  { histograms = true }: { readonly histograms?: boolean } = {},
): Record<string, unknown> {
  const { measured, setup, intervals } = run;
  return {
    version: run.version,
    started_at: run.startedAt,
    partial: run.partial,
    setup_sha256: setupHash(setup, run.version),
    setup: toSnakeCase(setup),
    wall_ms: run.wallMs,
    warmup_ms: run.warmupMs,
    run_ms: run.runMs,
    drain_ms: run.drainMs,
    response: { of: "all planned, failed ones infinite", ...headlineJson(measured) },
    success_only: quantilesJson(measured.completed),
    service: quantilesJson(measured.service),
    send_lag: quantilesJson(measured.sendLag),
    connect: quantilesJson(measured.connect),
    first_byte: quantilesJson(measured.firstByte),
    event_gap: setup.sse ? quantilesJson(measured.eventGap) : null,
    slow_episodes: slowEpisodes(run, 0.999) ?? null,
    verdicts: run.verdicts,
    check: toSnakeCase(run.check),
    measured: sectionJson(measured, histograms),
    warmup: sectionJson(run.warmup, histograms),
    intervals: intervals.map((interval) => intervalJson(interval, histograms)),
  };
}

function sectionJson(section: LoadSection, histograms: boolean): Record<string, unknown> {
  return {
    ledger: toSnakeCase(section.ledger),
    statuses: Object.fromEntries(section.statuses),
    failures: Object.fromEntries(section.failures),
    ...(histograms && {
      histograms_us: Object.fromEntries(
        HISTOGRAM_NAMES.map((clock) => [snakeKey(clock), base64(section[clock])]),
      ),
    }),
  };
}

function intervalJson(interval: LoadInterval, histograms: boolean): Record<string, unknown> {
  const { startMs, lengthMs, sent, dropped, infinite, all } = interval;
  const head = { start_ms: startMs, length_ms: lengthMs, sent, dropped, infinite };
  return histograms ? { ...head, all_us: base64(all) } : head;
}

function headlineJson(section: LoadSection): Record<string, unknown> {
  return {
    count: headlineCount(section),
    ...figuresJson((quantile) => headlineFigure(section, quantile)),
  };
}

function quantilesJson(histogram: Histogram): Record<string, unknown> {
  const isEmpty = histogram.count === 0;
  return {
    count: histogram.count,
    ...figuresJson((quantile) => figureOf(histogram, quantile)),
    min_ms: isEmpty ? null : histogram.min / 1_000,
    max_ms: isEmpty ? null : histogram.max / 1_000,
    mean_ms: isEmpty ? null : histogram.mean / 1_000,
  };
}

/** `p99_ms` and, where it is null or only a bound, `p99_ms_reason`. */
function figuresJson(of: (quantile: number) => Figure): Record<string, unknown> {
  return Object.fromEntries(
    REPORT_QUANTILES.flatMap((quantile) => {
      const key = `${showQuantile(quantile)}_ms`;
      const figure = of(quantile);
      const reason = reasonOf(figure);
      const value = figure.kind === "known" ? figure.ms : null;
      return [[key, value], ...(reason === undefined ? [] : [[`${key}_reason`, reason]])];
    }),
  );
}

function reasonOf(figure: Figure): string | undefined {
  switch (figure.kind) {
    case "known":
      return figure.bound === "exact" ? undefined : "at least: given-up requests lie below it";
    case "unbounded":
      return `unbounded: ${showPercent(figure.failedRatio)} failed`;
    case "unsupported":
      return `needs ${showCount(figure.needed)} samples`;
  }
}

function base64(histogram: Histogram): string {
  return Buffer.from(histogram.encode()).toString("base64");
}
