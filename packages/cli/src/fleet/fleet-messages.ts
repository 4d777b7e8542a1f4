import type { Fault } from "./fault.ts";
import type { FleetSetup, FleetStats } from "./fleet-options.ts";

export type FleetRequest =
  | { readonly kind: "start"; readonly setup: FleetSetup }
  | { readonly kind: "stats" }
  | { readonly kind: "control"; readonly index: number; readonly fault: Fault | undefined }
  | { readonly kind: "reset" }
  | { readonly kind: "stop" };

export type FleetReply =
  | { readonly kind: "started"; readonly ports: readonly number[] }
  | { readonly kind: "stats"; readonly stats: FleetStats }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly message: string };

/** On the wire between the two processes: every question but `stop` has one answer of its number. */
export interface FleetQuestion {
  readonly id: number;
  readonly request: FleetRequest;
}

export interface FleetAnswer {
  readonly id: number;
  readonly reply: FleetReply;
}
