import { checkOption } from "bobtail/engine";
import type { ProxyConfig, ServiceConfig } from "./config.ts";

/** Throws `ERR_BOBTAIL_OPTION` for what the parts would trip over once they are being swapped. */
export function checkConfig(config: ProxyConfig): void {
  for (const { service } of config.listeners) {
    const names = typeof service === "string" ? [service] : service.map((route) => route.service);
    for (const name of names)
      checkOption({ service: name }, "the name of a service", Object.hasOwn(config.services, name));
  }
  for (const service of Object.values(config.services)) checkEndpoints(service);
}

function checkEndpoints({ endpoints }: ServiceConfig): void {
  const seen = new Set<string>();
  for (const { url, weight = 1 } of endpoints) {
    checkOption({ "endpoint.url": url }, "http(s)://host:port, no path", isOrigin(url));
    checkOption({ "endpoint.url": url }, "an address that no other endpoint has", !seen.has(url));
    const ok = weight > 0 && weight < Number.POSITIVE_INFINITY;
    checkOption({ "endpoint.weight": weight }, "a number above 0", ok);
    seen.add(url);
  }
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash, username, password } = new URL(text);
  const isHttp = protocol === "http:" || protocol === "https:";
  return isHttp && pathname === "/" && search + hash + username + password === "";
}
