/**
 * `bobtail/undici`: `client.fetch` over undici, and an interceptor for undici's own dispatchers.
 * Needs the peer `undici`.
 */
export { type FetchTransportOptions, fetchTransport } from "./transports/undici/fetch-transport.ts";
export type { TlsOptions } from "./transports/undici/tls-options.ts";
export {
  type BobtailInterceptor,
  bobtailInterceptor,
  type InterceptorOptions,
} from "./transports/undici/undici-interceptor.ts";
