import { performance } from "node:perf_hooks";
import type { Clock } from "../core/clock.ts";

/** Milliseconds since the process began, with fractions; it never goes back, whatever is done to the time of day. */
export const systemClock: Clock = {
  nowMs(): number {
    return performance.now();
  },
};
