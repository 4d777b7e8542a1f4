import type { Clock, Timers } from "bobtail/engine";
import type { Exchange } from "./exchange.ts";

/** What every exchange of a proxy shares. */
export interface ExchangeHost {
  readonly clock: Clock;
  readonly timers: Timers;
  /** The proxy is going away: answers say so. */
  readonly isDraining: boolean;
  /** Exactly once for each exchange. */
  ended(exchange: Exchange, nowMs: number): void;
}
