import type { Flight } from "./flight.ts";

/** The open requests in the order in which they were planned. */
export class FlightList {
  oldest: Flight | undefined;
  count: number;
  private newest: Flight | undefined;

  constructor() {
    this.oldest = undefined;
    this.newest = undefined;
    this.count = 0;
  }

  add(flight: Flight): void {
    flight.previous = this.newest;
    if (this.newest === undefined) this.oldest = flight;
    else this.newest.next = flight;
    this.newest = flight;
    this.count++;
  }

  remove(flight: Flight): void {
    if (flight.previous === undefined) this.oldest = flight.next;
    else flight.previous.next = flight.next;
    if (flight.next === undefined) this.newest = flight.previous;
    else flight.next.previous = flight.previous;
    flight.previous = undefined;
    flight.next = undefined;
    this.count--;
  }
}
