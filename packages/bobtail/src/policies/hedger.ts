/**
 * What is known of one class of calls: those of similar cost, which share a latency history
 * and a hedge delay.
 */
export interface LatencyClass {
  readonly key: string;
  /** Wait this long for an answer before the next copy; Infinity: do not hedge. Cached between refreshes. */
  delayMs: number;
  /** Median latency of primaries; 0 while unknown. */
  medianMs: number;
}

/** Learns when a second copy is worth sending. */
export interface Hedger {
  /** Extra copies a call may have at most; 0: hedging is off. */
  readonly max: number;
  /** The class of that key; at most 32, later keys share one. */
  classOf(key: string): LatencyClass;
  /** The delay for a copy launched now; Infinity: do not hedge. */
  delayMs(cls: LatencyClass, nowMs: number): number;
  /** A primary was answered after this long, or, censored, had not been answered by then. */
  record(cls: LatencyClass, latencyMs: number, censored: boolean, nowMs: number): void;
  /** The wake for a copy came this long after it was due; ms >= 0. An adaptive delay is shortened by what is usual. */
  woken(lateMs: number): void;
}
