import { checkOption } from "bobtail/engine";
import { type BackendOptions, capacityPerSec } from "../fleet/fleet-options.ts";
import { type StallLaw, stretchLaw } from "../fleet/service-law.ts";

const BACKENDS = 10;
const WORKERS = 4;
const MEAN_MS = 10;
const SLOW_FACTOR = 5;
const LOAD_RATIO = 0.7;
const QUEUE_LIMIT_MS = 1_000;
const STALL: StallLaw = { shareRatio: 0.01, minMs: 50, maxMs: 150 };

export interface DemoOptions {
  /** What is measured in each phase; seconds in [1, 3,600], default 15. A warm-up comes before it. */
  readonly seconds?: number | undefined;
  /** Requests a second; above 0, default 70 % of what the fleet can serve (2,576 without stalls). */
  readonly ratePerSec?: number | undefined;
  /** Any 32-bit whole number; default 1. Both phases meet the same service times and arrivals. */
  readonly seed?: number | undefined;
  /** One request in a hundred takes 50 to 150 ms longer, on every backend; default false. */
  readonly stalls?: boolean | undefined;
  /** Phase two hedges; default true. */
  readonly hedge?: boolean | undefined;
  /**
   * How much slower than intended everything runs; in [1, 100]. Default: calibrated to the machine, and run
   * once more at half the speed if the machine disturbed it even so. A given factor is taken as it is.
   */
  readonly factor?: number | undefined;
  /** Ends the run at once; the report is partial. */
  readonly signal?: AbortSignal | undefined;
  /** Told about twice a second how a phase goes. */
  readonly onProgress?: ((progress: DemoProgress) => void) | undefined;
}

/** How it stands in the middle of a run. Times are those of a fast machine, as in the report. */
export interface DemoProgress {
  readonly label: string;
  readonly elapsedMs: number;
  readonly totalMs: number;
  readonly warmingUp: boolean;
  readonly requests: number;
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly failedRatio: number;
  readonly slowShareRatio: number;
}

/** With every default filled in. */
export interface DemoPlan {
  readonly seconds: number;
  readonly seed: number;
  readonly stalls: boolean;
  readonly hedge: boolean;
  /** Undefined: to be calibrated. */
  readonly factor: number | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: DemoProgress) => void;
  /** On a machine as fast as it should be. */
  readonly ratePerSec: number;
  readonly queueLimitMs: number;
  readonly backends: readonly BackendOptions[];
}

/** Throws `ERR_BOBTAIL_OPTION` for the first option out of range. */
export function checkDemoOptions(options: DemoOptions): DemoPlan {
  const { seconds = 15, seed = 1, stalls = false, hedge = true, factor } = options;
  const backends = sickFleet(stalls);
  const ratePerSec = options.ratePerSec ?? LOAD_RATIO * capacityPerSec(backends);
  checkOption({ seconds }, "seconds in [1, 3600]", seconds >= 1 && seconds <= 3_600);
  checkOption(
    { rate: ratePerSec },
    "requests a second in (0, 100000]",
    ratePerSec > 0 && ratePerSec <= 100_000,
  );
  checkOption(
    { factor },
    "a factor in [1, 100]",
    factor === undefined || (factor >= 1 && factor <= 100),
  );
  checkOption({ seed }, "a whole number", Number.isSafeInteger(seed));
  return {
    seconds,
    seed,
    stalls,
    hedge,
    factor,
    ratePerSec,
    queueLimitMs: QUEUE_LIMIT_MS,
    backends,
    signal: options.signal ?? new AbortController().signal,
    onProgress: options.onProgress ?? (() => {}),
  };
}

/** The same plan on a machine that is slower by a factor: the load relative to the capacity stays what it was. */
export function stretchPlan(plan: DemoPlan, factor: number): DemoPlan {
  if (factor === 1) return plan;
  return {
    ...plan,
    ratePerSec: plan.ratePerSec / factor,
    queueLimitMs: plan.queueLimitMs * factor,
    backends: plan.backends.map(({ law, workers }) => ({ law: stretchLaw(law, factor), workers })),
  };
}

/** Ten servers, the first of them five times slower and healthy by every check. */
function sickFleet(stalls: boolean): BackendOptions[] {
  return Array.from({ length: BACKENDS }, (_, index) => ({
    law: {
      meanMs: MEAN_MS,
      slowFactor: index === 0 ? SLOW_FACTOR : 1,
      stall: stalls ? STALL : undefined,
    },
    workers: WORKERS,
  }));
}
