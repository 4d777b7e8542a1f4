import type { Clock, Timers } from "bobtail/engine";
import type { Exchange } from "./exchange.ts";

/** What every exchange of a proxy shares. */
export interface ExchangeHost {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Exactly once for each exchange. */
  ended(exchange: Exchange, nowMs: number): void;
}
