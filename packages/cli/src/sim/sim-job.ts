import { createHash } from "node:crypto";
import type { Scenario } from "bobtail/sim";

/** What is to be simulated, as plain data: the same job gives the same plan on every machine. */
export interface SimJob {
  readonly source:
    | { readonly kind: "built-in"; readonly name: string }
    | { readonly kind: "file"; readonly scenario: Scenario };
  /** As given: `path=value`, in their order. */
  readonly sets: readonly string[];
  /** As given: `path=from..to:step`. */
  readonly sweeps: readonly string[];
  /** Default: 5 for a built-in scenario, what the file says (or 1) for a file. */
  readonly runs?: number | undefined;
  /** Default: what the file says, or 1. */
  readonly seed?: number | undefined;
  /** Multiplies the number of requests. */
  readonly scale: number;
}

/** Differs when the job or the version of the simulator does: results of different ones must not be added. */
export function fingerprintOf(job: SimJob, version: string): string {
  return createHash("sha256")
    .update(JSON.stringify([version, job]))
    .digest("hex")
    .slice(0, 32);
}
