import type { SealedInterval } from "./interval-log.ts";
import type { LoadPlan } from "./load-plan.ts";
import type { PacerEnd } from "./pacing/pacer.ts";
import type { Share } from "./schedule.ts";
import type { SectionBytes } from "./section-codec.ts";
import type { ThreadHealth } from "./thread-monitor.ts";

/** What a sending thread is given. */
export interface ThreadOrder {
  readonly plan: LoadPlan;
  readonly share: Share;
  readonly maxInFlight: number;
  readonly connections: number;
  /** Undefined: its own timers wake it. */
  readonly end: PacerEnd | undefined;
}

export type ThreadCommand =
  | { readonly kind: "start"; readonly startMs: number }
  | { readonly kind: "fall-back" }
  | { readonly kind: "stop" };

export type ThreadReport =
  | { readonly kind: "ready" }
  | { readonly kind: "measure" }
  | { readonly kind: "live"; readonly warmup: SectionBytes; readonly measured: SectionBytes }
  | { readonly kind: "done"; readonly result: ShareBytes };

export interface ShareBytes {
  readonly warmup: SectionBytes;
  readonly measured: SectionBytes;
  readonly intervals: readonly SealedInterval[];
  readonly overMs: number;
  readonly probe: Uint8Array;
  readonly health: ThreadHealth;
  readonly fellBack: boolean;
}
