export {
  BobtailError,
  type BobtailErrorCode,
  type BobtailErrorDetails,
  isBobtailError,
} from "./core/errors.ts";
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
