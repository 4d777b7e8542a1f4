import type { Rng } from "../core/rng.ts";
import { FAULT } from "./event-codes.ts";
import type { EventQueue } from "./event-queue.ts";
import type { Fleet } from "./fleet.ts";
import type { ChoreOptions, Fault } from "./scenario.ts";
import type { SimServer } from "./server.ts";

const DEFAULT_FACTOR = 10;

/** One fault of one server, and whether it is on. */
export interface FaultState {
  readonly server: SimServer;
  readonly fault: Fault;
  on: boolean;
}

/** Turns the faults of a fleet on and off as time goes. */
export class FaultPlan {
  private readonly states: readonly FaultState[];
  private readonly fleet: Fleet;
  private readonly events: EventQueue;

  constructor(states: readonly FaultState[], fleet: Fleet, events: EventQueue) {
    this.states = states;
    this.fleet = fleet;
    this.events = events;
  }

  schedule(): void {
    for (const state of this.states) this.events.push(state.fault.atMs, FAULT, state);
  }

  change(state: FaultState, nowMs: number): void {
    const { fault, server } = state;
    state.on = !state.on;
    if (state.on) this.events.push(nowMs + fault.forMs, FAULT, state);
    else if (fault.everyMs !== undefined)
      this.events.push(nowMs + fault.everyMs - fault.forMs, FAULT, state);
    if (fault.kind !== "crash") this.fleet.setSpeed(server, this.speedOf(server), nowMs);
    else if (state.on) this.fleet.crash(server, nowMs);
    else
      server.down = this.states.some(
        (s) => s.server === server && s.on && s.fault.kind === "crash",
      );
  }

  /** A server may have several faults at once: it is as slow as all of them together make it. */
  private speedOf(server: SimServer): number {
    let speed = 1;
    for (const { server: other, fault, on } of this.states) {
      if (other !== server || !on) continue;
      if (fault.kind === "pause") return 0;
      if (fault.kind === "slow") speed /= fault.factor ?? DEFAULT_FACTOR;
    }
    return speed;
  }
}

/** The chores of a server as a fault that comes again and again. */
export function choreFault(
  chores: ChoreOptions,
  place: { readonly replica: number; readonly replicas: number },
  rng: Rng,
): Fault {
  const { everyMs, forMs, factor, placement } = chores;
  const scattered = rng.next() * everyMs;
  const atMs =
    placement === "aligned"
      ? everyMs / 2
      : placement === "scattered"
        ? scattered
        : (place.replica * everyMs) / place.replicas;
  const kind = factor === undefined ? "pause" : "slow";
  return { kind, atMs, forMs, everyMs, factor };
}
