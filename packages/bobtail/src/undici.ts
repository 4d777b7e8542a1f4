/**
 * `bobtail/undici`: `client.fetch` over undici, and an interceptor for undici's own dispatchers.
 * Needs the peer `undici`.
 */
export { type FetchTransportOptions, fetchTransport } from "./transports/fetch-transport.ts";
export type { TlsOptions } from "./transports/tls-options.ts";
export {
  type BobtailInterceptor,
  bobtailInterceptor,
  type InterceptorOptions,
} from "./transports/undici-interceptor.ts";
