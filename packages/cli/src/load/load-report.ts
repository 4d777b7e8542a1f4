import { Histogram } from "bobtail/engine";

/** Where every planned request went: planned = sent + dropped + unsent, sent = the five below it. */
export interface Ledger {
  planned: number;
  sent: number;
  /** Not sent because `maxInFlight` was reached. */
  dropped: number;
  /** Not sent because the run was stopped before its time. */
  unsent: number;
  /** Answered below 400, with a whole body. */
  ok: number;
  /** Answered 400 or above, with a whole body. */
  httpErrors: number;
  /** Refused, reset, or cut short. */
  transportErrors: number;
  timeouts: number;
  /** Sent, and neither answered nor timed out when the run was stopped. */
  openAtEnd: number;
}

/** A part of a run: its warm-up, or what is measured. Times are whole microseconds from the planned send. */
export interface LoadSection {
  readonly ledger: Ledger;
  /** To the last byte, of requests that ended well. */
  readonly completed: Histogram;
  /** Failures too, each at its elapsed time, and dropped ones at the timeout. Those never sent are not here. */
  readonly all: Histogram;
  /** From the planned to the real send: what the generator itself added. */
  readonly sendLag: Histogram;
}

export interface LoadReport {
  readonly warmup: LoadSection;
  readonly measured: LoadSection;
  /** From the start to the last answer. */
  readonly wallMs: number;
  /** The run was stopped before its time. */
  readonly partial: boolean;
}

export function emptySection(planned: number): LoadSection {
  return {
    ledger: {
      planned,
      sent: 0,
      dropped: 0,
      unsent: 0,
      ok: 0,
      httpErrors: 0,
      transportErrors: 0,
      timeouts: 0,
      openAtEnd: 0,
    },
    completed: new Histogram(),
    all: new Histogram(),
    sendLag: new Histogram(),
  };
}

/** Requests that were sent, or should have been, and did not end well. */
export function failedCount(ledger: Ledger): number {
  const { dropped, httpErrors, transportErrors, timeouts } = ledger;
  return dropped + httpErrors + transportErrors + timeouts;
}

/** Fewer exceedances than this leave a quantile without a finite 95 % interval. */
const MIN_EXCEEDANCES = 3.7;

/** In milliseconds; undefined where the sample is too small to support the quantile. */
export function supportedQuantileMs(histogram: Histogram, quantile: number): number | undefined {
  if (histogram.count * (1 - quantile) < MIN_EXCEEDANCES) return undefined;
  return histogram.quantile(quantile) / 1_000;
}
