import { createSecureContext } from "node:tls";
import type { TransportSetup } from "./exchange.ts";
import type { Address } from "./http1-connection.ts";
import { pinnedLookup } from "./pinned-lookup.ts";

/** What to connect to for an origin. One TLS context serves all of its connections. */
export function addressOf(
  origin: string,
  { tls, addresses, openTimeoutMs }: Pick<TransportSetup, "tls" | "addresses" | "openTimeoutMs">,
): Address {
  const url = new URL(origin);
  const isSecure = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const standardPort = isSecure ? 443 : 80;
  // Port 0 is written, and nobody's.
  const port = url.port === "" ? standardPort : Number(url.port);
  const lookup = pinnedLookup(addresses[host]);
  if (!isSecure) return { host, port, lookup, openTimeoutMs, secure: undefined };
  const { ca, insecure = false } = tls;
  return {
    host,
    port,
    lookup,
    openTimeoutMs,
    secure: { context: createSecureContext(ca ? { ca } : {}), insecure },
  };
}
