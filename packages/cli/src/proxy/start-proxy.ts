import type { ProxyConfig, RunningProxy } from "./config.ts";
import { ProxyServer } from "./proxy-server.ts";

/** Rejects when an address cannot be bound, or with `ERR_BOBTAIL_OPTION`; nothing is left open then. */
export async function startProxy(config: ProxyConfig): Promise<RunningProxy> {
  const proxy = new ProxyServer();
  try {
    await proxy.start(config);
  } catch (error) {
    await proxy.close();
    throw error;
  }
  return proxy;
}
