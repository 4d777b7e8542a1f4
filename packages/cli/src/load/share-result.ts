import type { Histogram } from "bobtail/engine";
import type { SealedInterval } from "./interval-log.ts";
import type { LoadSection } from "./load-report.ts";
import type { ThreadHealth } from "./thread-monitor.ts";

/** What one sending thread has to tell of its share of a run. */
export interface ShareResult {
  readonly warmup: LoadSection;
  readonly measured: LoadSection;
  readonly intervals: readonly SealedInterval[];
  /** From the start of the run to its last answer. */
  readonly overMs: number;
  /** How late the pacing was before the run. */
  readonly probe: Histogram;
  readonly health: ThreadHealth;
  /** Its pacing thread did not come up, or died: its own timers woke it. */
  readonly fellBack: boolean;
}
