import { checkOption } from "bobtail/engine";
import type { TrialSetup } from "./scenario.ts";

const MEAN_MS = 20;
/** The queue of a backend that gets too much is full by then: see `QUEUE_LIMIT_MEANS`. */
const WARMUP_MEANS = 200;
const QUICK_MEANS = 500;
const FULL_MEANS = 1_500;
/** So long a request waits at a backend at most, and a user for an answer, in mean service times. */
export const QUEUE_LIMIT_MEANS = 100;
export const TIMEOUT_MEANS = 150;

/** With every default filled in: ten backends of four workers at 20 ms and 70 % load; 4 s of warm-up, then 10 s (quick) or 30 s, both in proportion to the mean. Throws `ERR_BOBTAIL_OPTION` for the first option out of range. */
export function trialSetup(options: Partial<TrialSetup>, set: "quick" | "full"): TrialSetup {
  const { meanMs = MEAN_MS, backends = 10, workers = 4, loadRatio = 0.7, seed = 1 } = options;
  const durationMs = options.durationMs ?? meanMs * (set === "quick" ? QUICK_MEANS : FULL_MEANS);
  const warmupMs = options.warmupMs ?? meanMs * WARMUP_MEANS;
  const setup = { meanMs, backends, workers, loadRatio, durationMs, warmupMs, seed };
  checkTrialSetup(setup);
  return setup;
}

/** Throws `ERR_BOBTAIL_OPTION` for the first field out of range. */
export function checkTrialSetup(setup: TrialSetup): void {
  const { meanMs, backends, workers, loadRatio, durationMs, warmupMs, seed } = setup;
  checkOption({ meanMs }, "milliseconds in [1, 1000]", meanMs >= 1 && meanMs <= 1_000);
  checkOption(
    { backends },
    "a whole number in [4, 64]",
    Number.isInteger(backends) && backends >= 4 && backends <= 64,
  );
  checkOption(
    { workers },
    `a whole number in [1, 64], and at most 256 workers in the ${backends} backends`,
    Number.isInteger(workers) && workers >= 1 && workers <= 64 && workers * backends <= 256,
  );
  checkOption({ loadRatio }, "a ratio in (0, 0.95]", loadRatio > 0 && loadRatio <= 0.95);
  checkOption(
    { durationMs },
    "milliseconds in [100, 86400000]",
    durationMs >= 100 && durationMs <= 86_400_000,
  );
  checkOption(
    { warmupMs },
    "milliseconds in [0, 86400000]",
    warmupMs >= 0 && warmupMs <= 86_400_000,
  );
  checkOption({ seed }, "a whole number", Number.isSafeInteger(seed));
}
