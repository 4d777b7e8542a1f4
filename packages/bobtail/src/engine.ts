/**
 * `bobtail/engine`: the decisions without a transport, for those who write one. The proxy and the
 * simulator are built on exactly these.
 */
export { assert, assertNever, nth } from "./core/assert.ts";
export { type Clock, type Timers, Wakeable } from "./core/clock.ts";
export { BobtailError, checkOption, isBobtailError } from "./core/errors.ts";
export { Histogram, type HistogramOptions } from "./core/histogram.ts";
export { type Rng, seededRng } from "./core/rng.ts";
export { WindowedHistogram, type WindowedHistogramOptions } from "./core/windowed-histogram.ts";
export { Attempt, type AttemptKind, type AttemptOutcome, isTried } from "./policies/attempt.ts";
export type { Balancer } from "./policies/balancer.ts";
export type { Budget } from "./policies/budget.ts";
export { attemptsOf, Call, type CallFailure, type CallState } from "./policies/call.ts";
export { CallMachine } from "./policies/call-machine.ts";
export { Endpoint, type EndpointOptions } from "./policies/endpoint.ts";
export type { Hedger, LatencyClass } from "./policies/hedger.ts";
export type { CallObserver } from "./policies/observer.ts";
export type {
  BalanceOptions,
  BalancePolicy,
  BudgetOptions,
  HedgeOptions,
  LimitOptions,
  LoadSignal,
  QuantileDelay,
  RetryOptions,
  ServiceOptions,
  TimeoutOptions,
} from "./policies/options.ts";
export type { CallPolicy, Port } from "./policies/port.ts";
export { createService, type Service, type ServiceSetup } from "./policies/service.ts";
export type { ServiceStats, SkipReason } from "./policies/stats.ts";
export { ClientDriver, type DriverSetup, type RunOptions } from "./transports/client/driver.ts";
export type {
  AttemptReports,
  CallOptions,
  FailureDetails,
  LiveAttempt,
  Sender,
} from "./transports/client/sender.ts";
export { systemClock } from "./transports/system-clock.ts";
export {
  type HostTimer,
  systemTimers,
  type TimerHost,
  TimerWheel,
} from "./transports/timer-wheel.ts";
