/** `bobtail`: a client for replicas and shards whose tail stays short. */
export {
  BobtailError,
  type BobtailErrorCode,
  type BobtailErrorDetails,
  isBobtailError,
} from "./core/errors.ts";
export type { AttemptKind, AttemptOutcome } from "./policies/attempt.ts";
export type { CallFailure } from "./policies/call.ts";
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
export type { SkipReason } from "./policies/stats.ts";
export { type ContextMarks, withContext } from "./transports/client/call-context.ts";
export {
  type Client,
  createClient,
  type HttpClient,
  type TargetClient,
} from "./transports/client/client.ts";
export type {
  ClientOptions,
  SharedClientOptions,
  TargetClientOptions,
} from "./transports/client/client-options.ts";
export type { ClientStats, EndpointStats } from "./transports/client/client-stats.ts";
export type {
  AttemptMessage,
  CallMessage,
  HedgeMessage,
  SkipMessage,
} from "./transports/client/diagnostics.ts";
export type { Origin, TargetEndpoint, UrlEndpoint } from "./transports/client/endpoint-list.ts";
export type {
  FetchConnections,
  FetchEndpoint,
  FetchInit,
  FetchMarks,
  FetchSetup,
  FetchTransport,
  PreparedFetch,
} from "./transports/client/fetch-transport-port.ts";
export type { AttemptFunction, FunctionCallOptions } from "./transports/client/function-sender.ts";
export type {
  AttemptReports,
  CallOptions,
  FailureDetails,
  LiveAttempt,
  Sender,
} from "./transports/client/sender.ts";
