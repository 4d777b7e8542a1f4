import type { IncomingMessage, ServerResponse } from "node:http";
import type { ClientOptions } from "../../packages/bobtail/src/index.ts";
import { type VirtualTime, virtualTime } from "../../packages/bobtail/src/testing.ts";
import type { FetchTransportOptions } from "../../packages/bobtail/src/undici.ts";
import { type Backend, backend, client, type Handler, until } from "./fetch-backend.ts";

export const RICH = { extraRatio: 2, burstCount: 1000 };
export const DELAY_MS = 10;

/** A client on a clock of its own, so that a hedge goes out when the test says so. */
export function hedging(
  endpoints: ClientOptions["endpoints"],
  options: Partial<ClientOptions> = {},
  transport: FetchTransportOptions = {},
) {
  const time = virtualTime();
  const hedge = { afterMs: DELAY_MS };
  const base = { hedge, budget: RICH, clock: time, timers: time };
  return { time, c: client(endpoints, { ...base, ...options }, transport) };
}

export function isFirst(request: IncomingMessage): boolean {
  return request.headers["bobtail-attempt"] === undefined;
}

/** Two servers that share what they do: one thing for first copies, another for later ones. */
export async function pair(first: Handler, other: Handler): Promise<[Backend, Backend]> {
  const handler: Handler = (request, response, number) =>
    (isFirst(request) ? first : other)(request, response, number);
  return [await backend(handler), await backend(handler)];
}

/** Answers nothing until it is let go. */
export function stuck() {
  const waiting: ServerResponse[] = [];
  const handler: Handler = (_, response) => void waiting.push(response);
  return { waiting, handler };
}

/** The answer of a call whose first copy is stuck, once its hedge has gone out. */
export async function hedged<T>(
  answer: Promise<T>,
  time: VirtualTime,
  ready: () => boolean,
): Promise<T> {
  await until(ready);
  await time.advance(DELAY_MS);
  return answer;
}

export const opens = (servers: readonly Backend[]) =>
  servers.reduce((sum, s) => sum + s.open.size, 0);
