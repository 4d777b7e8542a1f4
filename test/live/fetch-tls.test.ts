import { readFileSync } from "node:fs";
import {
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { isBobtailError } from "../../packages/bobtail/src/index.ts";
import { virtualTime } from "../../packages/bobtail/src/testing.ts";
import { fetchTransport } from "../../packages/bobtail/src/undici.ts";
import { backend, client, later, outstanding, until } from "./fetch-backend.ts";

const RICH = { extraRatio: 2, burstCount: 1000 };
const pem = (name: string) => readFileSync(new URL(`../fixtures/${name}.pem`, import.meta.url));
const AUTHORITY = pem("tls-authority");
const SERVER = { cert: pem("tls-server"), key: pem("tls-server.key") };
const CLIENT = { cert: pem("tls-client"), key: pem("tls-client.key") };
const NAMED = { servername: "search.internal", ca: AUTHORITY };

async function tlsBackend(options: object = {}) {
  const b = await backend(
    (request, response) => response.end(`${request.headers.host}`),
    createTlsServer({ ...SERVER, ...options }) as never,
  );
  return { ...b, url: b.url.replace("http:", "https:") };
}

test("TLS to an endpoint given by address: the certificate is that of the server name", async () => {
  const b = await tlsBackend();
  const c = client([b.url], {}, { tls: NAMED });
  const response = await c.fetch("/");
  expect(`https://${await response.text()}`).toBe(b.url);
  const bare = client([b.url], { retry: { max: 0 } }, { tls: { ca: AUTHORITY } });
  const error = await bare.fetch("/").catch((e: unknown) => e);
  if (!isBobtailError(error, "ERR_BOBTAIL_ALL_FAILED")) throw error;
  expect(error.details.causes[0]).toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
});

test.each([
  ["a certificate that is none", { cert: "-----BEGIN CERTIFICATE-----\nzzz\n", key: CLIENT.key }],
  ["a key of another certificate", { ...CLIENT, key: SERVER.key }],
  ["an option that means nothing", { serverName: "search.internal" } as never],
])("TLS options are looked at when the transport is made: %s", (_, tls) => {
  const make = () => fetchTransport({ tls });
  expect(make).toThrow(expect.objectContaining({ code: "ERR_BOBTAIL_OPTION" }));
  expect(make).toThrow(/^tls/);
});

test("a certificate of an unknown authority is refused, unless the caller says otherwise", async () => {
  const b = await tlsBackend();
  const strict = client([b.url], { retry: { max: 0 } }, { tls: { servername: "search.internal" } });
  const error = await strict.fetch("/").catch((e: unknown) => e);
  if (!isBobtailError(error, "ERR_BOBTAIL_ALL_FAILED")) throw error;
  const lax = client([b.url], {}, { tls: { rejectUnauthorized: false } });
  expect((await lax.fetch("/")).status).toBe(200);
});

test("a server that asks for a certificate of ours gets it", async () => {
  const b = await tlsBackend({ requestCert: true, rejectUnauthorized: true, ca: AUTHORITY });
  const c = client([b.url], {}, { tls: { ...NAMED, ...CLIENT } });
  expect((await c.fetch("/")).status).toBe(200);
  const without = client([b.url], { retry: { max: 0 } }, { tls: NAMED });
  await expect(without.fetch("/")).rejects.toThrow();
});

test("a virtual endpoint keeps a spare connection over TLS as well", async () => {
  const b = await backend((request, response) => {
    if (request.headers["bobtail-attempt"] !== undefined) response.end("quick");
  }, createTlsServer(SERVER) as never);
  const url = b.url.replace("http:", "https:");
  const time = virtualTime();
  const options = { hedge: { afterMs: 10 }, budget: RICH, clock: time, timers: time };
  const c = client([{ url, virtual: true }], options, { tls: NAMED });
  const answer = c.fetch("/");
  await until(() => b.opened === 2 && b.requests.length === 1);
  await time.advance(10);
  expect(await (await answer).text()).toBe("quick");
  expect(b.opened).toBe(2);
});

type StreamHandler = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

async function h2Backend(handler: StreamHandler) {
  const server = createSecureServer({ ...SERVER, allowHTTP1: false });
  const sessions = new Set<ServerHttp2Session>();
  let opened = 0;
  server.on("session", (session) => {
    opened++;
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => {});
  });
  server.on("stream", handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  later(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, sessions, opened: () => opened };
}

test("HTTP/2: a loser's stream is reset, its connection goes on, and calls share it", async () => {
  let firsts = 0;
  let resets = 0;
  const answer: StreamHandler = (stream, headers) => {
    stream.on("error", () => {});
    if (headers["bobtail-attempt"] === undefined) {
      firsts++;
      // Nothing is ever answered, so only a reset can close it.
      stream.on("close", () => resets++);
      return;
    }
    stream.respond({ ":status": 200, "content-type": "text/plain" });
    stream.end("h2");
  };
  const servers = [await h2Backend(answer), await h2Backend(answer)];
  const time = virtualTime();
  const hedge = { afterMs: 10 };
  const c = client(
    servers.map((s) => s.url),
    { hedge, budget: RICH, clock: time, timers: time },
    { tls: NAMED, allowH2: true },
  );
  for (let i = 1; i <= 6; i++) {
    const call = c.fetch("/");
    await until(() => firsts === i);
    await time.advance(10);
    expect(await (await call).text()).toBe("h2");
    await until(() => resets === i);
  }
  expect(c.stats().hedgesWon).toBe(6);
  expect(servers.map((s) => [s.opened(), s.sessions.size])).toEqual([
    [1, 1],
    [1, 1],
  ]);
  await until(() => outstanding(c) === 0);
  await c.close();
  await until(() => servers.every((s) => s.sessions.size === 0));
});

test("HTTP/2: many calls at one time share connections, and bodies are whole", async () => {
  const b = await h2Backend((stream) => {
    let text = "";
    stream.on("data", (chunk) => {
      text += chunk;
    });
    stream.on("end", () => {
      stream.respond({ ":status": 200 });
      stream.end(text);
    });
  });
  const c = client([b.url], {}, { tls: NAMED, allowH2: true });
  await (await c.fetch("/", { method: "PUT", body: "first" })).text();
  const body = "y".repeat(100_000);
  const answers = Array.from({ length: 30 }, async () =>
    (await c.fetch("/", { method: "PUT", body })).text(),
  );
  for (const text of await Promise.all(answers)) expect(text).toBe(body);
  expect(b.opened()).toBe(1);
  await until(() => outstanding(c) === 0);
});
