import { createSecureContext } from "node:tls";
import type { TransportSetup } from "./exchange.ts";
import type { Address } from "./http1-connection.ts";

/** What to connect to for an origin. One TLS context serves all of its connections. */
export function addressOf(origin: string, tls: TransportSetup["tls"]): Address {
  const url = new URL(origin);
  const isSecure = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port) || (isSecure ? 443 : 80);
  if (!isSecure) return { host, port, secure: undefined };
  const { ca, insecure = false } = tls;
  return { host, port, secure: { context: createSecureContext(ca ? { ca } : {}), insecure } };
}
