import { checkOption } from "bobtail/engine";
import type { ArrivalPattern } from "./arrivals.ts";

export interface LoadOptions {
  /** http or https, with the path; every request is a GET of it. */
  readonly url: string;
  /** Requests a second; above 0. */
  readonly ratePerSec: number;
  /** What is measured; ms above 0. */
  readonly durationMs: number;
  /** Sent before it at the same rate and reported apart; ms >= 0, default 0. */
  readonly warmupMs?: number | undefined;
  /** Default `poisson`. */
  readonly arrivals?: ArrivalPattern | undefined;
  /** Any 32-bit whole number; default 1. The same seed plans the same run. */
  readonly seed?: number | undefined;
  /** From the planned send; ms above 0, default 10,000. After the last send, open requests have as long to end. */
  readonly timeoutMs?: number | undefined;
  /** Also the number of connections, so that none waits in the client; a whole number in [1, 65,535], default 2,048. One more is dropped, and counted. */
  readonly maxInFlight?: number | undefined;
  /** Ends the run at once; the report is partial. */
  readonly signal?: AbortSignal | undefined;
  /** Called once, when the first measured request is about to leave. */
  readonly onMeasure?: (() => void) | undefined;
}

/** With every default filled in. */
export interface LoadPlan {
  readonly origin: string;
  readonly path: string;
  readonly warmupCount: number;
  readonly warmupMs: number;
  readonly count: number;
  readonly durationMs: number;
  readonly pattern: ArrivalPattern;
  readonly seed: number;
  readonly timeoutMs: number;
  readonly maxInFlight: number;
}

/** Throws `ERR_BOBTAIL_OPTION` for the first option out of range. */
export function checkLoadOptions(options: LoadOptions): LoadPlan {
  const { ratePerSec, durationMs, warmupMs = 0, timeoutMs = 10_000, maxInFlight = 2_048 } = options;
  const { arrivals = "poisson", seed = 1 } = options;
  const url = URL.canParse(options.url) ? new URL(options.url) : undefined;
  const protocol = url?.protocol;
  checkOption(
    { url: options.url },
    "an http or https URL",
    protocol === "http:" || protocol === "https:",
  );
  checkOption({ ratePerSec }, "a number above 0", isAbove0(ratePerSec));
  checkOption({ durationMs }, "milliseconds above 0", isAbove0(durationMs));
  checkOption({ warmupMs }, "milliseconds >= 0", warmupMs === 0 || isAbove0(warmupMs));
  checkOption({ arrivals }, "poisson or uniform", arrivals === "poisson" || arrivals === "uniform");
  checkOption({ seed }, "a whole number", Number.isSafeInteger(seed));
  checkOption({ timeoutMs }, "milliseconds above 0", isAbove0(timeoutMs));
  checkOption(
    { maxInFlight },
    "a whole number in [1, 65535]",
    Number.isInteger(maxInFlight) && maxInFlight >= 1 && maxInFlight <= 65_535,
  );
  return {
    origin: url?.origin ?? "",
    path: `${url?.pathname ?? "/"}${url?.search ?? ""}`,
    warmupCount: Math.round((ratePerSec * warmupMs) / 1_000),
    warmupMs,
    count: Math.round((ratePerSec * durationMs) / 1_000),
    durationMs,
    pattern: arrivals,
    seed,
    timeoutMs,
    maxInFlight,
  };
}

function isAbove0(value: number): boolean {
  return value > 0 && Number.isFinite(value);
}
