import type { LatencyUnit } from "../plan/latency-unit.ts";

/** Recorded requests, in order of their arrival; the first came at 0. */
export interface Trace {
  readonly file: string;
  readonly atMs: readonly number[];
  readonly sizeMs: readonly number[];
  /** `latency`: what was measured holds the wait in a queue. `size`: the work alone. */
  readonly measure: "latency" | "size";
  /** The names of the columns or fields; "" where there is no header. */
  readonly timeField: string;
  readonly sizeField: string;
  readonly skips: readonly {
    readonly reason: string;
    readonly count: number;
    readonly firstPlace: string;
  }[];
  /** There were more requests than are kept. */
  readonly isCut: boolean;
}

/** What the user says about a trace. */
export interface TraceOptions {
  /** Column (name, or number from 1) or field path of the arrival. Default: by its name. */
  readonly timeField?: string | undefined;
  /** The same for what a request took. Default: by its name. */
  readonly sizeField?: string | undefined;
  /** Of arrivals that are numbers, where their name does not say it. */
  readonly timeUnit?: LatencyUnit | undefined;
  /** Of sizes or latencies, where neither name nor value says it. */
  readonly unit?: LatencyUnit | undefined;
  /** Whether the time is that of the arrival (default) or that of the answer, as in access logs. */
  readonly timeAt?: "start" | "end" | undefined;
}
