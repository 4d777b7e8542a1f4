import { Histogram } from "bobtail/engine";
import { PROBE_COUNT, PROBE_GAP_MS } from "./pacer-order.ts";

/** How late the wakes before the run are. */
export class Probe {
  readonly lag: Histogram;
  private taken: number;

  constructor() {
    this.lag = new Histogram();
    this.taken = 0;
  }

  /** Undefined before and after. In ms from the start of the run, which is after the last of them. */
  nextMs(): number | undefined {
    if (this.taken === PROBE_COUNT) return undefined;
    return (this.taken - PROBE_COUNT) * PROBE_GAP_MS;
  }

  /** @param nowMs - from the start of the run. */
  wake(nowMs: number): void {
    for (let dueMs = this.nextMs(); dueMs !== undefined && dueMs <= nowMs; dueMs = this.nextMs()) {
      this.lag.record((nowMs - dueMs) * 1_000);
      this.taken++;
    }
  }
}
