import type { Rng } from "../core/rng.ts";
import type { EventQueue } from "./event-queue.ts";
import { compileLaw, type Draw, type Law } from "./law.ts";

/** The way between clients and servers: every message takes a time of its own, so that one may overtake another. */
export class Network {
  private readonly delay: Draw;
  private readonly rng: Rng;
  private readonly events: EventQueue;

  constructor(delay: Law, rng: Rng, events: EventQueue) {
    this.delay = compileLaw(delay);
    this.rng = rng;
    this.events = events;
  }

  /** @returns the handle of the event at which it arrives. */
  post(code: number, subject: unknown, nowMs: number): number {
    return this.events.push(nowMs + this.delay(this.rng), code, subject);
  }
}
