import type { Attempt, Call, Port } from "bobtail/engine";
import type { Leg } from "./engine.ts";
import type { Exchange } from "./exchange.ts";

/** The machine's hands: every call's host is its exchange, every attempt's its leg. */
export const exchangePort: Port = {
  send(a: Attempt): void {
    (a.call.host as Exchange).send(a);
  },
  cancel(a: Attempt): void {
    (a.host as Leg).drop();
  },
  wakeAt(call: Call, atMs: number): void {
    (call.host as Exchange).wakeAt(atMs);
  },
  settle(call: Call, nowMs: number): void {
    (call.host as Exchange).settled(nowMs);
  },
};
