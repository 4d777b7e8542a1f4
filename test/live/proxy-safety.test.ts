import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { ask, Testbed, talk, until } from "./proxy-testbed.ts";

const bed = new Testbed();
afterEach(() => bed.close());

const statusOf = (heard: string) => Number(heard.split(" ")[1]);

async function counting(more: Parameters<Testbed["service"]>[2] = {}) {
  const backend = await bed.backend((_q, r, body) => r.end(body));
  return { backend, proxy: await bed.service([backend.url], {}, more) };
}

test("a request whose length can be read in two ways is refused and never passed on", async () => {
  const { backend, proxy } = await counting();
  const ambiguous = [
    "content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n",
    "content-length: 5\r\ncontent-length: 6\r\n\r\nhello",
    "content-length: +5\r\n\r\nhello",
    "content-length: 5, 5\r\n\r\nhello",
    "transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "transfer-encoding : chunked\r\n\r\n0\r\n\r\n",
    "transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
  ];
  for (const text of ambiguous) {
    const status = statusOf(await talk(proxy.port, `POST / HTTP/1.1\r\nhost: a\r\n${text}`));
    expect([text, status === 400 || status === 501]).toEqual([text, true]);
  }
  expect(backend.requests).toHaveLength(0);
});

test("line breaks, control characters and folded lines in headers are refused", async () => {
  const { backend, proxy } = await counting();
  for (const line of ["x: a\x00b", "x: a\nb", "x y: 1", ": 1", "x: a\r\n folded"]) {
    const heard = await talk(proxy.port, `GET / HTTP/1.1\r\nhost: a\r\n${line}\r\n\r\n`);
    expect([line, statusOf(heard)]).toEqual([line, 400]);
  }
  expect(backend.requests).toHaveLength(0);
});

test("a request names exactly one host", async () => {
  const { backend, proxy } = await counting();
  for (const hosts of ["", "host: a\r\nhost: b\r\n"])
    expect(statusOf(await talk(proxy.port, `GET / HTTP/1.1\r\n${hosts}\r\n`))).toBe(400);
  expect(backend.requests).toHaveLength(0);
});

test("a target in absolute form is passed on as a path and its address is never called", async () => {
  const other = await bed.backend((_q, r) => r.end("wrong server"));
  const { backend, proxy } = await counting();
  const heard = await talk(
    proxy.port,
    `GET http://127.0.0.1:${other.port}/p?q=1 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
  );
  expect(statusOf(heard)).toBe(200);
  expect(other.requests).toHaveLength(0);
  expect(backend.requests[0]?.url).toBe("/p?q=1");
  expect(backend.requests[0]?.headers.host).toBe(`127.0.0.1:${other.port}`);
  for (const target of ["*", "a", "ftp://a/b", "http://user@a/", "http:///x"])
    expect(statusOf(await talk(proxy.port, `OPTIONS ${target} HTTP/1.1\r\nhost: a\r\n\r\n`))).toBe(
      400,
    );
  expect(backend.requests).toHaveLength(1);
});

test("CONNECT is refused: no client makes the proxy call an address that it was not given", async () => {
  const other = await bed.backend((_q, r) => r.end());
  const { proxy } = await counting();
  const heard = await talk(
    proxy.port,
    `CONNECT 127.0.0.1:${other.port} HTTP/1.1\r\nhost: 127.0.0.1:${other.port}\r\n\r\n`,
  );
  expect(statusOf(heard)).toBe(501);
  expect(other.connections).toBe(0);
});

test("the paths of Bobtail itself are answered 404 and never passed on", async () => {
  const { backend, proxy } = await counting();
  for (const path of ["/.bobtail/load", "/.bobtail", "/.bobtail/cancel/x", "/.bobtail?x"])
    expect((await proxy.get(path)).status).toBe(404);
  expect((await proxy.get("/.bobtailed")).status).toBe(200);
  expect(backend.requests).toHaveLength(1);
});

test("too many headers, or too long ones, are answered 431", async () => {
  const { backend, proxy } = await counting({ client: { headerCount: 20, headerBytes: 4096 } });
  const lines = (count: number) =>
    Array.from({ length: count }, (_, i) => `x-${i}: 1\r\n`).join("");
  expect(statusOf(await talk(proxy.port, `GET / HTTP/1.1\r\nhost: a\r\n${lines(30)}\r\n`))).toBe(
    431,
  );
  const long = `x: ${"y".repeat(5000)}\r\n`;
  expect(statusOf(await talk(proxy.port, `GET / HTTP/1.1\r\nhost: a\r\n${long}\r\n`))).toBe(431);
  expect(backend.requests).toHaveLength(0);
});

test("a client that does not finish its headers, or its body, is cut off", async () => {
  const { backend, proxy } = await counting({ client: { headersMs: 100, requestMs: 150 } });
  const headers = talk(proxy.port, "GET / HTTP/1.1\r\nhost: a\r\nx: ");
  const body = talk(proxy.port, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhe");
  expect(statusOf(await headers)).toBe(408);
  await body;
  expect(backend.requests).toHaveLength(0);
  await proxy.idle();
});

test("an idle connection is closed after its time, and more connections than allowed are refused", async () => {
  const { proxy } = await counting({ client: { idleMs: 50, connections: 1 } });
  const first = connect(proxy.port, "127.0.0.1");
  first.on("error", () => {});
  let closed = false;
  first.on("close", () => {
    closed = true;
  });
  first.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await new Promise((resolve) => first.once("data", resolve));
  expect(await talk(proxy.port, "GET / HTTP/1.1\r\nhost: a\r\n\r\n")).toBe("");
  await until(() => closed);
  expect((await proxy.get("/")).status).toBe(200);
  expect(await proxy.metrics()).toMatch(/bobtail_connections_dropped_total [1-9]/);
});

test("an endpoint's reply that no client could be given is not passed on", async () => {
  for (const reply of [
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxy",
    "HTTP/1.1 200 OK\r\nx y: 1\r\ncontent-length: 0\r\n\r\n",
    "rubbish\r\n\r\n",
  ]) {
    const backend = await bed.rawBackend((socket) => socket.once("data", () => socket.end(reply)));
    const proxy = await bed.service([backend.url], { retry: { max: 0 } });
    const answer = await proxy.get("/").catch(() => undefined);
    expect([reply, answer === undefined || answer.status === 502]).toEqual([reply, true]);
    await proxy.idle();
  }
});

test("an endpoint that says more than its reply does not reach the next client", async () => {
  const extra = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil";
  const backend = await bed.rawBackend((socket) => {
    socket.on("data", () =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood${extra}`),
    );
  });
  const proxy = await bed.service([backend.url], { retry: { max: 0 } });
  for (let i = 0; i < 5; i++) expect((await proxy.get("/")).body.toString()).toBe("good");
});

test("traefik 13513: a websocket is passed through both ways, never hedged, and counted until it closes", async () => {
  const backend = await bed.backend((_q, r) => r.end());
  let upgrades = 0;
  backend.server.on("upgrade", (request, socket) => {
    upgrades++;
    socket.on("error", () => {});
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: ${request.headers.upgrade}\r\nconnection: upgrade\r\nx-key: ${request.headers["sec-websocket-key"]}\r\n\r\n`,
    );
    socket.on("data", (data: Buffer) => socket.write(`echo ${data}`));
    socket.on("end", () => socket.end());
  });
  const proxy = await bed.service([backend.url], {
    hedge: { afterMs: 1 },
    deadlineMs: 60,
  });
  const socket = connect(proxy.port, "127.0.0.1");
  let heard = "";
  socket.on("data", (data) => {
    heard += data;
  });
  socket.write(
    "GET /chat HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: k\r\n\r\nfirst",
  );
  await until(() => heard.includes("echo first"));
  expect(heard).toMatch(/^HTTP\/1.1 101 Switching Protocols\r\n/);
  expect(heard).toMatch(/x-key: k\r\n/);
  // Longer than the deadline, which is for answers.
  await new Promise((resolve) => setTimeout(resolve, 120));
  socket.write("second");
  await until(() => heard.includes("echo second"));
  expect([upgrades, proxy.stats.endpoints[0]?.outstanding, proxy.stats.hedges]).toEqual([1, 1, 0]);
  socket.end();
  await proxy.idle();
  expect(proxy.stats.succeeded).toBe(1);
});

test("a tunnel ends when its endpoint goes away, and so does a refused upgrade, with its answer", async () => {
  const backend = await bed.backend((_q, r) => r.end());
  backend.server.on("upgrade", (request, socket) => {
    socket.on("error", () => {});
    if (request.url === "/no")
      socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 6\r\nconnection: close\r\n\r\ndenied");
    else {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
      setTimeout(() => socket.destroy(), 20);
    }
  });
  const proxy = await bed.service([backend.url]);
  const head = "host: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
  expect(await talk(proxy.port, `GET /yes HTTP/1.1\r\n${head}`)).toMatch(/ 101 /);
  const refused = await talk(proxy.port, `GET /no HTTP/1.1\r\n${head}`);
  expect(statusOf(refused)).toBe(403);
  expect(refused.endsWith("denied")).toBe(true);
  await proxy.idle();
});

test("an upgrade to another form of HTTP is answered as a plain request, one with a body is refused", async () => {
  const { backend, proxy } = await counting();
  const head =
    "host: a\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: x\r\n";
  expect(statusOf(await talk(proxy.port, `GET / HTTP/1.1\r\n${head}\r\n`))).toBe(200);
  expect(backend.requests[0]?.headers.upgrade).toBeUndefined();
  expect(
    statusOf(await talk(proxy.port, `POST / HTTP/1.1\r\n${head}content-length: 1\r\n\r\nx`)),
  ).toBe(501);
  expect(backend.requests).toHaveLength(1);
});

test("a body sent with GET arrives, and Expect is answered by the proxy", async () => {
  const { backend, proxy } = await counting();
  const got = await ask(proxy.port, { body: "in a get", headers: { "content-length": "8" } });
  expect(got.body.toString()).toBe("in a get");
  const heard = await talk(
    proxy.port,
    "PUT / HTTP/1.1\r\nhost: a\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\nok",
  );
  expect(heard).toMatch(/^HTTP\/1.1 100 Continue/);
  expect(heard.endsWith("ok")).toBe(true);
  expect(backend.requests[1]?.headers.expect).toBeUndefined();
});
