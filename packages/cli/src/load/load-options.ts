import type { ArrivalPattern } from "./arrivals.ts";

/** What requests ask for. */
export interface LoadTarget {
  /** http or https, with the path. */
  readonly url: string;
  /** Default GET, or POST where there is a body. Not CONNECT. */
  readonly method?: string | undefined;
  /** Names are compared without case. `host`, `content-length` and the like are set by the sender where they are absent. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: Uint8Array | undefined;
  /** Its share among the targets; above 0, default 1. */
  readonly weight?: number | undefined;
}

/** A piece of a run during which the rate changes evenly. A step is two segments. */
export interface RateSegment {
  /** Requests a second; >= 0. */
  readonly fromPerSec: number;
  readonly toPerSec: number;
  /** Above 0. */
  readonly durationMs: number;
}

export interface LoadTls {
  /** Certificates that are trusted in place of Node's, in PEM. */
  readonly ca?: string | undefined;
  /** Certificates are not checked; default false. */
  readonly insecure?: boolean | undefined;
}

/** What is sent: `url` or `targets`. When: `ratePerSec` and `durationMs`, or `profile`, or `plannedMs`. */
export interface LoadOptions {
  /** Short for one target. */
  readonly url?: string | undefined;
  /** Drawn by weight, from a seeded stream. */
  readonly targets?: readonly LoadTarget[] | undefined;
  /** Requests a second; above 0. */
  readonly ratePerSec?: number | undefined;
  /** What is measured; ms above 0. With `plannedMs` its default is the whole millisecond after the last moment. */
  readonly durationMs?: number | undefined;
  /** Ramps and steps, one after the other. The planned count is the integral of the rate, rounded. */
  readonly profile?: readonly RateSegment[] | undefined;
  /** A trace: the planned moments, in ms >= 0 from the start of measuring, ascending. */
  readonly plannedMs?: Float64Array | undefined;
  /** Sent before it at the rate it starts with (for a trace: its mean rate) and reported apart; ms >= 0, default 0. */
  readonly warmupMs?: number | undefined;
  /** Default `poisson`. */
  readonly arrivals?: ArrivalPattern | undefined;
  /** Any 32-bit whole number; default 1. The same seed plans the same run. */
  readonly seed?: number | undefined;
  /** From the planned send; ms above 0, default 10,000. After the last send, open requests have as long to end. */
  readonly timeoutMs?: number | undefined;
  /** One more is dropped, and counted; a whole number in [1, 65,535], default 2,048. */
  readonly maxInFlight?: number | undefined;
  /** Open at once; a whole number in [1, maxInFlight], which is the default. With fewer, requests wait for one, which is response time and named (`queueing`). */
  readonly connections?: number | undefined;
  /** Default `http1`. `http2` is agreed on in the TLS handshake for https, and spoken at once (prior knowledge) for http. */
  readonly protocol?: "http1" | "http2" | undefined;
  /** Answers are event streams: time to the first event, gaps between events, whole stream. Default false. */
  readonly sse?: boolean | undefined;
  readonly tls?: LoadTls | undefined;
  /**
   * By host name (an IPv6 address without brackets), the addresses that connections to it may use, so that a name cannot come to
   * mean another host after somebody has checked it. Default: names are resolved for each connection.
   */
  readonly addresses?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Sending threads; a whole number in [1, 64], default 1: the caller's own thread sends. */
  readonly workers?: number | undefined;
  /** `thread` (default): a thread that sleeps until each moment wakes the sender. `timer`: the sender's own timers, a millisecond apart. */
  readonly pacing?: "thread" | "timer" | undefined;
  /** Length of the recorded intervals; ms above 0, default 1,000, doubled until at most 1,024 cover the run. */
  readonly intervalMs?: number | undefined;
  /** Ends the run at once; the report is partial. */
  readonly signal?: AbortSignal | undefined;
  /** Called once, when the first measured request is about to leave. */
  readonly onMeasure?: (() => void) | undefined;
}
