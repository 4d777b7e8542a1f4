import type { Empirical, LatencyBucket, LatencyPair } from "bobtail/plan";
import type { Position } from "./csv-rows.ts";
import type { LatencyUnit } from "./latency-unit.ts";

export type LogFormat = "csv" | "json" | "hlog" | "prometheus" | "nginx" | "envoy";

export const LOG_FORMATS: readonly LogFormat[] = [
  "csv",
  "json",
  "hlog",
  "prometheus",
  "nginx",
  "envoy",
];

/** What the user says about the log. */
export interface LogOptions {
  readonly format?: LogFormat | undefined;
  /** Column (name, or number from 1), field path, metric, tag or log variable that holds the latency. */
  readonly field?: string | undefined;
  /** Holds the latency of a second copy that was sent at the same moment. */
  readonly pairField?: string | undefined;
  /** Is true where the latency was cut short: a cancelled loser. */
  readonly censoredField?: string | undefined;
  readonly unit?: LatencyUnit | undefined;
  /** nginx `log_format` or Envoy format string of an access log. */
  readonly logFormat?: string | undefined;
}

/** Lines that held no latency, by reason. */
export interface Skip {
  readonly reason: string;
  readonly count: number;
  /** Of the first one: `file:line`. */
  readonly firstPlace: string;
}

/** Measured latencies, whatever they were written in. */
export interface LatencyLog {
  readonly latency: Empirical;
  /** Latencies that were read. */
  readonly count: number;
  /** Of those, cut short. */
  readonly censoredCount: number;
  readonly pairs: readonly LatencyPair[];
  /** Pairs seen; more than are kept in a long log. */
  readonly pairCount: number;
  readonly skips: readonly Skip[];
  readonly formats: readonly LogFormat[];
  /** True: counted in buckets of at most 0.8 % width, since there are too many to keep. */
  readonly isCompressed: boolean;
  /** Finite bounds of a histogram that was read; undefined for latencies one by one. */
  readonly bucketBounds: number | undefined;
}

/** Where a reader puts what it finds. */
export interface LatencySink {
  /** One latency, in ms; negative and NaN are skipped and counted. */
  add(ms: number): void;
  addMany(ms: number, count: number): void;
  /** A latency that was cut short after that time. */
  addCensored(ms: number): void;
  addPair(pair: LatencyPair): void;
  addBuckets(buckets: readonly LatencyBucket[]): void;
  /** A line without a latency. The reason must not hold anything of the line: reasons are counted. */
  skip(reason: string): void;
}

/** Reads one format line by line. Fails with a `CommandFailure` where the log as a whole makes no sense. */
export interface LogReader {
  line(text: string): void;
  /** A line of the file was too long and is left out; for formats where a line may belong to the one before. */
  cut?(): void;
  end(): void;
}

/** `file:line` of the line in hand, for messages. */
export type Place = () => string;

export interface ReaderSetup {
  readonly options: LogOptions;
  readonly sink: LatencySink;
  readonly place: Place;
  /** What `place` tells of; a reader of rows over several lines sets it to the first. */
  readonly at: Position;
}
