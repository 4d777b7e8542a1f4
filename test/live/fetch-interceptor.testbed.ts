import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, type Dispatcher } from "undici";
import { virtualTime } from "../../packages/bobtail/src/testing.ts";
import { bobtailInterceptor, type InterceptorOptions } from "../../packages/bobtail/src/undici.ts";
import { backend, type Handler, later } from "./fetch-backend.ts";

export const ORIGIN = "http://search.internal";
export const RICH = { extraRatio: 2, burstCount: 1000 };
export const DELAY_MS = 10;
export const BIG = "x".repeat(2_000_000);

export function agentOf(
  endpoints: InterceptorOptions["endpoints"],
  options: Partial<InterceptorOptions> = {},
  ...others: Dispatcher.DispatcherComposeInterceptor[]
) {
  const time = virtualTime();
  const base = { origin: ORIGIN, endpoints, budget: RICH, seed: 1, clock: time, timers: time };
  const service = bobtailInterceptor({ ...base, ...options });
  const agent = new Agent();
  later(() => agent.destroy());
  return { agent: agent.compose(service, ...others), service, time };
}

export const outstanding = (service: {
  stats(): { endpoints: readonly { outstanding: number }[] };
}) => service.stats().endpoints.reduce((sum, e) => sum + e.outstanding, 0);

export const isFirst = (r: IncomingMessage) => r.headers["bobtail-attempt"] === undefined;

/** Two servers that leave first copies waiting and do one thing with the others. */
export async function pair(other: Handler) {
  const waiting: ServerResponse[] = [];
  const handler: Handler = (request, response, n) =>
    isFirst(request) ? void waiting.push(response) : other(request, response, n);
  const servers = [await backend(handler), await backend(handler)];
  return { waiting, servers, urls: servers.map((s) => s.url) };
}
