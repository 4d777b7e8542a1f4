import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { samplesForInterval } from "bobtail/plan";

const RESOLUTION_MS = 10;
/** Fewer samples say nothing of a p99: those of some four seconds. */
const MIN_SAMPLES: number = samplesForInterval(0.99);

/** What a thread did beside its work. */
export interface ThreadHealth {
  /** How late its timers were, p99; NaN for runs too short to tell. */
  readonly loopDelayP99Ms: number;
  readonly gcPauseMs: number;
}

export interface ThreadMonitor {
  stop(): ThreadHealth;
}

export function startThreadMonitor(): ThreadMonitor {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let gcPauseMs = 0;
  const add = (entries: readonly { readonly duration: number }[]): void => {
    for (const { duration } of entries) gcPauseMs += duration;
  };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  delay.enable();
  return {
    stop() {
      delay.disable();
      add(observer.takeRecords());
      observer.disconnect();
      // A sample is the time between two timers: what it is beyond their distance is lateness.
      const lateMs = Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS);
      return { loopDelayP99Ms: delay.count < MIN_SAMPLES ? Number.NaN : lateMs, gcPauseMs };
    },
  };
}
