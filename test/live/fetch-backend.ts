import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach } from "vitest";
import {
  type ClientOptions,
  createClient,
  type HttpClient,
} from "../../packages/bobtail/src/index.ts";
import { type FetchTransportOptions, fetchTransport } from "../../packages/bobtail/src/undici.ts";

/** What it returns is not waited for. */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  number: number,
) => unknown;

/** A server on the loopback that counts what reaches it. */
export interface Backend {
  readonly url: string;
  readonly requests: IncomingMessage[];
  /** Connections open now / opened in all. */
  readonly open: Set<Socket>;
  readonly opened: number;
  readonly server: Server;
  close(): Promise<void>;
}

const cleanups: (() => Promise<unknown> | unknown)[] = [];

/** Undone after the test, the last first. */
export function later(cleanup: () => Promise<unknown> | unknown): void {
  cleanups.push(cleanup);
}

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export async function backend(handler: Handler, server: Server = createServer()): Promise<Backend> {
  const state = { requests: [] as IncomingMessage[], open: new Set<Socket>(), opened: 0, server };
  server.keepAliveTimeout = 60_000;
  server.on("connection", (socket) => {
    state.opened++;
    state.open.add(socket);
    socket.on("close", () => state.open.delete(socket));
    socket.on("error", () => {});
  });
  server.on("request", (request, response) => {
    state.requests.push(request);
    handler(request, response, state.requests.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of state.open) socket.destroy();
    });
  };
  later(close);
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, { url: `http://127.0.0.1:${port}`, close });
}

/** An address where nothing listens. */
export async function deadUrl(): Promise<string> {
  const gone = await backend(() => {});
  await gone.close();
  return gone.url;
}

/** Waits for a condition that another event brings about; the test's own timeout is the limit. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** A promise and the function that resolves it. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** A client of those endpoints, closed after the test. */
export function client(
  endpoints: ClientOptions["endpoints"],
  options: Partial<ClientOptions> = {},
  transport: FetchTransportOptions = {},
): HttpClient {
  const base = { endpoints, transport: fetchTransport(transport), seed: 1 };
  const made = createClient({ ...base, ...options });
  later(() => made.close());
  return made;
}

/** Attempts under way at every endpoint. */
export function outstanding(of: HttpClient): number {
  return of.stats().endpoints.reduce((sum, e) => sum + e.outstanding, 0);
}
