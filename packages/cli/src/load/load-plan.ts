import { checkOption } from "bobtail/engine";
import type { ArrivalPattern } from "./arrivals.ts";
import type { LoadOptions, LoadTls, RateSegment } from "./load-options.ts";
import { checkTargets, type PlannedTarget } from "./planned-target.ts";
import { integralOf } from "./rate-profile.ts";

const MAX_INTERVALS = 1_024;
const MAX_WORKERS = 64;
const MAX_SEGMENTS = 10_000;

/** {@link LoadOptions} with every default filled in. */
export interface LoadPlan {
  readonly targets: readonly PlannedTarget[];
  readonly warmupCount: number;
  readonly warmupMs: number;
  readonly count: number;
  readonly durationMs: number;
  /** What the count is the integral of; for a trace its mean rate. */
  readonly profile: readonly RateSegment[];
  readonly plannedMs: Float64Array | undefined;
  readonly arrivals: ArrivalPattern;
  readonly seed: number;
  readonly timeoutMs: number;
  readonly maxInFlight: number;
  /** To each host, of all threads together. */
  readonly connections: number;
  readonly protocol: "http1" | "http2";
  readonly sse: boolean;
  readonly tls: LoadTls;
  readonly addresses: Readonly<Record<string, readonly string[]>>;
  readonly workers: number;
  readonly pacing: "thread" | "timer";
  /** The real one: at most 1,024 of them cover the run. */
  readonly intervalMs: number;
}

/** Throws `ERR_BOBTAIL_OPTION` for the first option out of range. */
export function checkLoadOptions(options: LoadOptions): LoadPlan {
  const { warmupMs = 0, timeoutMs = 10_000, arrivals = "poisson", seed = 1 } = options;
  const { protocol = "http1", pacing = "thread", sse = false, tls = {}, addresses = {} } = options;
  const targets = checkTargets(options);
  const timing = options.plannedMs === undefined ? checkProfile(options) : checkTrace(options);
  checkOption({ warmupMs }, "milliseconds >= 0", warmupMs === 0 || isAbove0(warmupMs));
  checkOption({ arrivals }, "poisson or uniform", arrivals === "poisson" || arrivals === "uniform");
  checkOption({ seed }, "a whole number", Number.isSafeInteger(seed));
  checkOption({ timeoutMs }, "milliseconds above 0", isAbove0(timeoutMs));
  checkOption({ protocol }, "http1 or http2", protocol === "http1" || protocol === "http2");
  checkOption({ pacing }, "thread or timer", pacing === "thread" || pacing === "timer");
  const warmupPerSec = timing.profile[0]?.fromPerSec ?? 0;
  return {
    targets,
    warmupCount: Math.round((warmupPerSec * warmupMs) / 1_000),
    warmupMs,
    ...timing,
    plannedMs: options.plannedMs,
    arrivals,
    seed,
    timeoutMs,
    ...checkSizes(options),
    protocol,
    sse,
    tls,
    addresses,
    pacing,
    intervalMs: checkInterval(options.intervalMs ?? 1_000, timing.durationMs),
  };
}

type Timing = Pick<LoadPlan, "count" | "durationMs" | "profile">;

function checkProfile(options: LoadOptions): Timing {
  const { ratePerSec = Number.NaN, durationMs = Number.NaN, profile } = options;
  if (profile === undefined) {
    checkOption({ ratePerSec }, "a number above 0", isAbove0(ratePerSec));
    checkOption({ durationMs }, "milliseconds above 0", isAbove0(durationMs));
    const segment = { fromPerSec: ratePerSec, toPerSec: ratePerSec, durationMs };
    return { count: Math.round(integralOf([segment])), durationMs, profile: [segment] };
  }
  checkOption(
    { profile: profile.length },
    `1 to ${MAX_SEGMENTS} segments, without ratePerSec and durationMs`,
    profile.length >= 1 &&
      profile.length <= MAX_SEGMENTS &&
      options.ratePerSec === undefined &&
      options.durationMs === undefined,
  );
  for (const { fromPerSec, toPerSec, durationMs: lengthMs } of profile) {
    checkOption({ fromPerSec }, "a number >= 0", fromPerSec === 0 || isAbove0(fromPerSec));
    checkOption({ toPerSec }, "a number >= 0", toPerSec === 0 || isAbove0(toPerSec));
    checkOption({ durationMs: lengthMs }, "milliseconds above 0", isAbove0(lengthMs));
  }
  const wholeMs = profile.reduce((sum, segment) => sum + segment.durationMs, 0);
  return { count: Math.round(integralOf(profile)), durationMs: wholeMs, profile };
}

function checkTrace(options: LoadOptions): Timing {
  const { plannedMs = new Float64Array(), profile, ratePerSec } = options;
  const count = plannedMs.length;
  const lastMs = plannedMs[count - 1] ?? Number.NaN;
  const { durationMs = Math.floor(lastMs) + 1 } = options;
  checkOption(
    { plannedMs: `${count} moments` },
    "at least one, without ratePerSec and profile",
    count > 0 && profile === undefined && ratePerSec === undefined,
  );
  let beforeMs = 0;
  for (const atMs of plannedMs) {
    checkOption(
      { plannedMs: atMs },
      "ms >= 0, ascending",
      atMs >= beforeMs && Number.isFinite(atMs),
    );
    beforeMs = atMs;
  }
  checkOption(
    { durationMs },
    "milliseconds, beyond the last planned moment",
    isAbove0(durationMs) && durationMs > lastMs,
  );
  const meanPerSec = (count / durationMs) * 1_000;
  return {
    count,
    durationMs,
    profile: [{ fromPerSec: meanPerSec, toPerSec: meanPerSec, durationMs }],
  };
}

function checkSizes(
  options: LoadOptions,
): Pick<LoadPlan, "maxInFlight" | "connections" | "workers"> {
  const { maxInFlight = 2_048, connections = maxInFlight, workers = 1 } = options;
  checkOption({ maxInFlight }, "a whole number in [1, 65535]", isWhole(maxInFlight, 65_535));
  checkOption({ workers }, `a whole number in [1, ${MAX_WORKERS}]`, isWhole(workers, MAX_WORKERS));
  checkOption(
    { connections },
    "a whole number in [1, maxInFlight], and one for each worker",
    isWhole(connections, maxInFlight) && connections >= workers,
  );
  return { maxInFlight, connections, workers };
}

/** Doubled until the number of intervals is bounded, whatever the length of the run. */
function checkInterval(intervalMs: number, durationMs: number): number {
  checkOption({ intervalMs }, "milliseconds above 0", isAbove0(intervalMs));
  let lengthMs = intervalMs;
  while (durationMs > lengthMs * MAX_INTERVALS) lengthMs *= 2;
  return lengthMs;
}

function isAbove0(value: number): boolean {
  return value > 0 && Number.isFinite(value);
}

function isWhole(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}
