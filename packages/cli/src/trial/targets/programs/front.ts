/** The server that stands before a library's pool: HTTP in, one call of the library per request. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A request body is read whole before it is sent on; a larger one is answered 413. */
const MAX_BODY_BYTES = 8_388_608;

const HOP_BY_HOP = new Set(["connection", "keep-alive", "transfer-encoding", "host", "expect"]);

export interface FrontRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}

export interface FrontAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Readable | Uint8Array;
}

/** @param send - one call of the library; a rejection is answered 502. */
export function serveFront(
  port: number,
  send: (request: FrontRequest) => Promise<FrontAnswer>,
): void {
  const server = createServer((request, response) => {
    exchange(request, response, send).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else answer(response, 502, `${String(error)}\n`);
    });
  });
  server.keepAliveTimeout = 0;
  server.on("error", (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  });
  server.listen({ port, host: "127.0.0.1", backlog: 4_096 });
}

async function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  send: (request: FrontRequest) => Promise<FrontAnswer>,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const body = await readBody(request);
  if (body === "too large") {
    answer(response, 413, "the body is too large\n");
    return;
  }
  const reply = await send({
    method: request.method ?? "GET",
    path: request.url ?? "/",
    headers: endToEnd(request.headers),
    body,
    signal: gone.signal,
  });
  response.writeHead(reply.status, endToEnd(reply.headers));
  if (reply.body instanceof Uint8Array) {
    response.end(reply.body);
    return;
  }
  // A body may be silent for long after its headers, which must not wait for it.
  response.flushHeaders();
  await pipeline(reply.body, response);
}

async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined | "too large"> {
  const hasBody =
    request.headers["content-length"] !== undefined ||
    request.headers["transfer-encoding"] !== undefined;
  if (!hasBody) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return "too large";
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function endToEnd(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, string> {
  const kept = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !HOP_BY_HOP.has(name),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain" });
  response.end(text);
}
