import { createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { isBobtailError } from "../../packages/bobtail/src/index.ts";
import { backend, bodyOf, client, deadUrl, later, outstanding, until } from "./fetch-backend.ts";

const RICH = { extraRatio: 2, burstCount: 1000 };
const IN_ORDER = { balance: { policy: "round-robin", errorPenalty: false } } as const;

/** A server of raw bytes: each connection's requests are answered by the function. */
async function rawServer(onRequest: (socket: Socket, number: number) => void) {
  const seen: number[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const index = seen.push(0) - 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    socket.on("data", () => {
      seen[index] = (seen[index] ?? 0) + 1;
      onRequest(socket, seen[index]);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  later(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { url: `http://127.0.0.1:${port}`, perConnection: seen };
}

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

test.each([502, 503, 504])("%i is a failure that another replica may cure", async (status) => {
  const bad = await backend((_, response) => response.writeHead(status).end("bad"));
  const good = await backend((_, response) => response.end("good"));
  const c = client([bad.url, good.url], { ...IN_ORDER, budget: RICH });
  for (let i = 0; i < 4; i++) expect(await (await c.fetch("/")).text()).toBe("good");
  expect(bad.requests.length).toBeGreaterThan(0);
  expect(c.stats().endpoints[0]?.failures).toBe(bad.requests.length);
  expect(good.requests.some((r) => r.headers["bobtail-attempt"] === "2;kind=retry")).toBe(true);
  await until(() => outstanding(c) === 0);
});

test("all failed: the caller gets the last real answer, as fetch would give it", async () => {
  const bad = await backend((_, response, n) =>
    response.writeHead(503, { "x-n": n }).end(`bad ${n}`),
  );
  const c = client([bad.url], { budget: RICH });
  const response = await c.fetch("/");
  expect([response.status, await response.text(), bad.requests.length]).toEqual([503, "bad 2", 2]);
  expect(c.stats().failed).toBe(1);
});

test("all failed without an answer: one error with every cause", async () => {
  const c = client([await deadUrl(), await deadUrl()], { budget: RICH });
  const error = await c.fetch("/").catch((e: unknown) => e);
  if (!isBobtailError(error, "ERR_BOBTAIL_ALL_FAILED")) throw error;
  const codes = error.details.causes.map((cause) => (cause as NodeJS.ErrnoException).code);
  expect(codes).toEqual(["ECONNREFUSED", "ECONNREFUSED"]);
});

test("an answer that is held is let go when another copy wins", async () => {
  const bad = await backend((_, response) => response.writeHead(503).end("b".repeat(500_000)));
  const good = await backend((_, response) => response.end("good"));
  const c = client([bad.url, good.url], { ...IN_ORDER, budget: RICH });
  for (let i = 0; i < 6; i++) expect(await (await c.fetch("/")).text()).toBe("good");
  expect(bad.requests.length).toBeGreaterThan(1);
  await until(() => bad.open.size === 0);
});

test("retry.on decides what counts as a failure", async () => {
  const bad = await backend((_, response, n) => response.writeHead(n === 1 ? 500 : 503).end());
  const c = client([bad.url], { budget: RICH, retry: { on: [500] } });
  expect((await c.fetch("/")).status).toBe(503);
  expect(bad.requests.length).toBe(2);
  const refusing = client([await deadUrl()], { budget: RICH, retry: { on: [503] } });
  await expect(refusing.fetch("/")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(refusing.stats().attempts).toBe(1);
});

test.each(["30", new Date(Date.now() + 3_600_000).toUTCString(), "no idea"])(
  "no copy is sent into Retry-After: %s",
  async (value) => {
    const busy = await backend((_, response) => {
      response.writeHead(429, { "retry-after": value }).end("busy");
    });
    const other = await backend((_, response) => {
      response.writeHead(503, { "retry-after": value }).end("busy");
    });
    const c = client([busy.url, other.url], { budget: RICH, deadlineMs: 5000 });
    for (let i = 0; i < 3; i++) expect(await (await c.fetch("/")).text()).toBe("busy");
    expect([c.stats().attempts, c.stats().skipped.pushback]).toEqual([3, 3]);
  },
);

test("429 without Retry-After is an answer; Retry-After: 0 asks for nothing", async () => {
  const busy = await backend((_, response) => response.writeHead(429).end("no"));
  const c = client([busy.url], { budget: RICH });
  expect((await c.fetch("/")).status).toBe(429);
  expect([busy.requests.length, c.stats().succeeded]).toEqual([1, 1]);
  const zero = await backend((_, response, n) => {
    if (n === 1) response.writeHead(503, { "retry-after": "0" }).end();
    else response.end("yes");
  });
  expect(await (await client([zero.url], { budget: RICH }).fetch("/")).text()).toBe("yes");
});

test("30: a POST that was sent is not repeated unless the caller says that it may be", async () => {
  const cut = await backend(async (request) => {
    await bodyOf(request);
    request.socket.destroy();
  });
  const c = client([cut.url], { budget: RICH, retry: { max: 3 } });
  await expect(c.fetch("/", { method: "POST", body: "order" })).rejects.toThrow();
  expect([cut.requests.length, c.stats().skipped.not_idempotent]).toEqual([1, 1]);
  await expect(c.fetch("/", { method: "POST", body: "order", idempotent: true })).rejects.toThrow();
  expect(cut.requests.length).toBe(5);
  const headers = { "idempotency-key": "k" };
  await expect(c.fetch("/", { method: "POST", body: "order", headers })).rejects.toThrow();
  expect(cut.requests.length).toBe(9);
  await expect(c.fetch("/", { idempotent: false })).rejects.toThrow();
  expect(cut.requests.length).toBe(10);
});

test("a POST of which nothing was sent is sent elsewhere", async () => {
  const good = await backend(async (request, response) => response.end(await bodyOf(request)));
  const c = client([await deadUrl(), good.url], { ...IN_ORDER, budget: RICH });
  for (let i = 0; i < 4; i++)
    expect(await (await c.fetch("/", { method: "POST", body: "order" })).text()).toBe("order");
  expect(c.stats().replaced).toBeGreaterThan(0);
});

test("26: a streamed body reaches one server, once, and whole", async () => {
  const bodies: string[] = [];
  const bad = await backend(async (request, response) => {
    bodies.push(await bodyOf(request));
    response.writeHead(503).end("busy");
  });
  const c = client([bad.url, bad.url.replace("127.0.0.1", "localhost")], { budget: RICH });
  const body = new Blob(["x".repeat(200_000)]).stream();
  const response = await c.fetch("/", { method: "PUT", body });
  expect([response.status, bodies.length]).toEqual([503, 1]);
  expect(bodies[0]).toBe("x".repeat(200_000));
  expect(c.stats().skipped.not_replayable).toBe(1);
});

test("a kept-alive connection that the server closed is no failure: the request goes out again on a fresh one", async () => {
  // The second request on a connection meets a server that has just decided to close it.
  const raw = await rawServer((socket, number) => {
    if (number === 1) socket.write(OK);
    else socket.destroy();
  });
  const c = client([raw.url], { retry: { max: 0 } });
  for (let i = 0; i < 5; i++) expect(await (await c.fetch("/")).text()).toBe("ok");
  const { attempts, failed, endpoints } = c.stats();
  expect([attempts, failed, endpoints[0]?.failures]).toEqual([5, 0, 0]);
  expect(raw.perConnection).toEqual([2, 2, 2, 2, 1]);
  const put = await c.fetch("/", { method: "PUT", body: "again", idempotent: true });
  expect(await put.text()).toBe("ok");
});

test("it goes out again once only, and a first request on a connection never does", async () => {
  let answers = 1;
  const raw = await rawServer((socket) => {
    if (answers-- > 0) socket.write(OK);
    else socket.destroy();
  });
  const c = client([raw.url], { retry: { max: 0 } });
  await (await c.fetch("/")).text();
  await expect(c.fetch("/")).rejects.toThrow();
  expect(raw.perConnection).toEqual([2, 1]);
  await expect(c.fetch("/")).rejects.toThrow();
  expect(raw.perConnection).toEqual([2, 1, 1]);
  expect(c.stats().endpoints[0]?.failures).toBe(2);
});

test("a write on a stale connection does not go out again, for it may have been done", async () => {
  const raw = await rawServer((socket, number) => {
    if (number === 1) socket.write(OK);
    else socket.destroy();
  });
  const c = client([raw.url], { retry: { max: 0 } });
  await (await c.fetch("/")).text();
  await expect(c.fetch("/", { method: "POST", body: "order" })).rejects.toThrow();
  expect(raw.perConnection).toEqual([2]);
});

test("an answer that has begun and then breaks is not sent again", async () => {
  const raw = await rawServer((socket, number) => {
    if (number === 1) socket.write(OK);
    else socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart");
  });
  const c = client([raw.url]);
  await (await c.fetch("/")).text();
  const response = await c.fetch("/");
  await expect(response.text()).rejects.toThrow();
  await until(() => outstanding(c) === 0);
  expect([raw.perConnection.length, c.stats().endpoints[0]?.failures]).toEqual([1, 1]);
});

test("a server that is no HTTP server is a failed endpoint", async () => {
  const raw = await rawServer((socket) => socket.end("hello?\r\n\r\n"));
  const good = await backend((_, response) => response.end("good"));
  const c = client([raw.url, good.url], { ...IN_ORDER, budget: RICH });
  for (let i = 0; i < 4; i++) expect(await (await c.fetch("/")).text()).toBe("good");
  expect(c.stats().endpoints[0]?.failures).toBeGreaterThan(0);
});

test("a body that decodes to nonsense is broken for its reader, as with fetch", async () => {
  const b = await backend((_, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end("this is no gzip");
  });
  const c = client([b.url]);
  const response = await c.fetch("/");
  await expect(response.text()).rejects.toThrow(TypeError);
  await until(() => outstanding(c) === 0);
});

test("a request body of the caller's own that breaks is the caller's error, and no failure of the endpoint", async () => {
  const b = await backend((request) => request.resume());
  const c = client([b.url], { budget: RICH, retry: { max: 3 } });
  const body = (async function* () {
    yield new TextEncoder().encode("some");
    throw new Error("mine");
  })();
  const error = await c
    .fetch("/", { method: "PUT", body, idempotent: true })
    .catch((e: unknown) => e);
  expect((error as Error).cause).toMatchObject({ message: "mine" });
  expect([c.stats().attempts, c.stats().endpoints[0]?.failures]).toEqual([1, 0]);
  await until(() => b.open.size === 0);
});
