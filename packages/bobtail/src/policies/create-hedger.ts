import type { Hedger } from "./hedger.ts";
import type { HedgeOptions } from "./options.ts";

/** Placeholder signature: the hedger is being written. */
export function createHedger(
  _options: HedgeOptions | undefined,
  _extraRatio: number | undefined,
): Hedger {
  throw new Error("not here yet");
}
