import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { ask, gate, Testbed, talk, until } from "./proxy-testbed.ts";

const bed = new Testbed();
afterEach(() => bed.close());

const reasonOf = (body: Buffer) => JSON.parse(body.toString());
const RETRY = { budget: { extraRatio: 1 }, retry: { max: 1 } };

test("a refused connection is tried elsewhere, even for a POST with a body", async () => {
  const backend = await bed.backend((_q, r, body) => r.end(body));
  const proxy = await bed.service([await bed.deadUrl(), backend.url], RETRY);
  for (let i = 0; i < 4; i++) {
    const answer = await ask(proxy.port, { method: "POST", body: `n${i}` });
    expect(answer.body.toString()).toBe(`n${i}`);
  }
  expect(proxy.stats.failed).toBe(0);
  await proxy.idle();
});

test("when no connection can be opened the client gets 502 and a reason that names no address", async () => {
  const dead = await bed.deadUrl();
  const proxy = await bed.service([dead], RETRY);
  const answer = await proxy.get("/");
  expect(answer.status).toBe(502);
  expect(reasonOf(answer.body)).toMatchObject({
    error: "bad_gateway",
    reason: "connect_failed",
    service: "s",
  });
  expect(answer.body.toString()).not.toContain(dead.slice(7));
});

test("a 503 is tried elsewhere; when every copy fails the client gets the last real answer, streamed through", async () => {
  let count = 0;
  const handler = (_request: unknown, response: ServerResponse) => {
    count++;
    response.writeHead(503, { "x-nth": String(count) });
    response.write("part ");
    setImmediate(() => response.end("rest"));
  };
  const pair = [await bed.backend(handler), await bed.backend(handler)];
  const proxy = await bed.service(
    pair.map((b) => b.url),
    RETRY,
  );
  const answer = await proxy.get("/");
  expect([answer.status, answer.headers["x-nth"], answer.body.toString()]).toEqual([
    503,
    "2",
    "part rest",
  ]);
  await proxy.idle();
  expect(proxy.stats.retries).toBe(1);
});

test("a 503 that another replica cures is never seen, and its connection is given back", async () => {
  let count = 0;
  const handler = (_request: unknown, response: ServerResponse) => {
    if (++count % 2 === 1) response.writeHead(503);
    response.end("x".repeat(2000));
  };
  const pair = [await bed.backend(handler), await bed.backend(handler)];
  const proxy = await bed.service(
    pair.map((b) => b.url),
    { ...RETRY, limit: { perEndpoint: 1 }, budget: { extraRatio: 2, burstCount: 100 } },
  );
  for (let i = 0; i < 6; i++) expect((await proxy.get("/")).status).toBe(200);
  await proxy.idle();
  expect(pair.reduce((sum, b) => sum + b.connections, 0)).toBeLessThanOrEqual(4);
});

test("a server that asks for quiet is not retried, and its own answer is passed on", async () => {
  let count = 0;
  const handler = (_request: unknown, response: ServerResponse) => {
    count++;
    response.writeHead(503, { "retry-after": "3600" });
    response.end("later");
  };
  const pair = [await bed.backend(handler), await bed.backend(handler)];
  const proxy = await bed.service(
    pair.map((b) => b.url),
    { ...RETRY, hedge: { afterMs: 25_000 } },
  );
  const answer = await proxy.get("/");
  expect([answer.status, answer.headers["retry-after"], answer.body.toString(), count]).toEqual([
    503,
    "3600",
    "later",
    1,
  ]);
  expect(proxy.stats.skipped.pushback).toBe(1);
});

test("an answer with a status that no other replica would cure is final", async () => {
  let count = 0;
  const backend = await bed.backend((_q, r) => {
    count++;
    r.writeHead(500);
    r.end("broken");
  });
  const proxy = await bed.service([backend.url], RETRY);
  expect((await proxy.get("/")).body.toString()).toBe("broken");
  expect(count).toBe(1);
});

test("a connection that breaks before the answer is retried where that is safe", async () => {
  let count = 0;
  const handler = (_request: unknown, response: ServerResponse) => {
    if (++count === 1) response.destroy();
    else response.end("second");
  };
  const pair = [await bed.backend(handler), await bed.backend(handler)];
  const proxy = await bed.service(
    pair.map((b) => b.url),
    RETRY,
  );
  expect((await proxy.get("/")).body.toString()).toBe("second");
  expect(proxy.stats.retries_won).toBe(1);
});

test("a kept connection that the server closes as it is used again is no failure: the same attempt goes out on a new one", async () => {
  const reply = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
  let closedOnUse = 0;
  const backend = await bed.rawBackend((socket: Socket) => {
    let requests = 0;
    socket.on("data", () => {
      // The second request on any connection finds it closing.
      if (++requests === 1) socket.write(reply);
      else {
        closedOnUse++;
        socket.destroy();
      }
    });
  });
  const proxy = await bed.service([backend.url], { retry: { max: 0 } });
  for (let i = 0; i < 6; i++) expect((await proxy.get("/")).body.toString()).toBe("ok");
  expect(closedOnUse).toBeGreaterThan(0);
  expect([proxy.stats.attempts, proxy.stats.endpoints[0]?.failures]).toEqual([6, 0]);
  await proxy.idle();
});

test("a POST on a kept connection that closes is not sent again", async () => {
  const reply = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
  let posts = 0;
  const backend = await bed.rawBackend((socket) => {
    let requests = 0;
    socket.on("data", (data) => {
      if (data.toString("latin1").startsWith("POST")) posts++;
      if (++requests === 1) socket.write(reply);
      else socket.destroy();
    });
  });
  const proxy = await bed.service([backend.url], RETRY);
  await proxy.get("/");
  expect((await ask(proxy.port, { method: "POST", body: "once" })).status).toBe(502);
  expect(posts).toBe(1);
});

test("a reply that is cut short breaks the client's connection: never a silently short body", async () => {
  const backend = await bed.rawBackend((socket) => {
    socket.once("data", () => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 200000\r\n\r\n${"x".repeat(100_000)}`);
      setTimeout(() => socket.destroy(), 10);
    });
  });
  const proxy = await bed.service([backend.url], RETRY);
  await expect(proxy.get("/")).rejects.toThrow();
  await proxy.idle();
  expect([proxy.stats.failed, proxy.stats.attempts]).toEqual([1, 1]);
});

test("a chunked reply that is cut short breaks the client's connection too", async () => {
  const backend = await bed.rawBackend((socket) => {
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
      setTimeout(() => socket.destroy(), 10);
    });
  });
  const proxy = await bed.service([backend.url], RETRY);
  const heard = await talk(proxy.port, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  expect(heard).toContain("hello");
  expect(heard.endsWith("0\r\n\r\n")).toBe(false);
  await proxy.idle();
});

test("envoy 22390: a client that leaves ends every attempt, queued ones never start, and every count is zero", async () => {
  const backend = await bed.backend(() => {});
  const proxy = await bed.service([backend.url], { limit: { perEndpoint: 2 } });
  const { connect } = await import("node:net");
  const clients = Array.from({ length: 5 }, () => {
    const socket = connect(proxy.port, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    return socket;
  });
  await until(() => backend.requests.length === 2 && proxy.stats.pending === 3);
  // Those that wait leave first: their requests must never reach the backend.
  for (const client of clients) client.destroy();
  await proxy.idle();
  await until(() => backend.cancelled === 2);
  expect([backend.requests.length, proxy.stats.aborted]).toEqual([2, 5]);
});

test("envoy 7192, B18: what a loser still sends after it was dropped harms nobody", async () => {
  let count = 0;
  const backend = async () =>
    (
      await bed.rawBackend((socket) => {
        socket.on("data", () => {
          if (++count % 2 === 1)
            // Its answer comes while it is being dropped.
            setTimeout(() => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nlate"), 8);
          else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nsoon");
        });
      })
    ).url;
  const proxy = await bed.service([await backend(), await backend()], {
    hedge: { afterMs: 7 },
    budget: { extraRatio: 2, burstCount: 1000 },
  });
  for (let i = 0; i < 40; i++)
    expect(["late", "soon"]).toContain((await proxy.get("/")).body.toString());
  await proxy.idle();
});

test("endpoints over TLS are called by address, with a name and an authority of their own", async () => {
  const { readFileSync } = await import("node:fs");
  const { createServer } = await import("node:https");
  const { fileURLToPath } = await import("node:url");
  const fixture = (name: string) =>
    readFileSync(fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url)), "utf8");
  const ca = fixture("tls-authority.pem");
  const own = { cert: fixture("tls-server.pem"), key: fixture("tls-server.key.pem") };
  const server = createServer(own, (request, response) =>
    response.end(`secure ${request.headers.host}`),
  );
  let connections = 0;
  server.on("secureConnection", () => {
    connections++;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as import("node:net").AddressInfo;
  const service = (tls: object) =>
    bed.proxy({
      listeners: [{ host: "127.0.0.1", port: 0, service: "s" }],
      services: { s: { endpoints: [{ url: `https://127.0.0.1:${port}` }], options: {}, tls } },
    });
  try {
    const trusting = await service({ serverName: "search.internal", ca });
    expect((await trusting.get("/", { host: "one.example" })).body.toString()).toBe(
      "secure one.example",
    );
    await trusting.get("/", { host: "two.example" });
    expect(connections).toBe(1);
    const wary = await service({ serverName: "search.internal" });
    expect((await wary.get("/")).status).toBe(502);
  } finally {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
});

test("a spare connection on which the server says something and leaves is not used: the copy opens another", async () => {
  const spareLeft = gate();
  const answer = (status: string, body: string) =>
    `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
  const { url } = await bed.rawBackend((socket, nth) => {
    if (nth === 1) {
      // The spare: servers do so that tire of a silent connection.
      socket.on("close", spareLeft.open);
      socket.end(answer("408 Request Timeout", ""));
      return;
    }
    socket.on("data", () => {
      if (nth === 2) void spareLeft.opened.then(() => socket.end(answer("503 Busy", "busy")));
      else socket.end(answer("200 OK", "other"));
    });
  });
  const proxy = await bed.service([{ url, virtual: true }], RETRY);
  const { status, body } = await proxy.get("/");
  expect([status, body.toString()]).toEqual([200, "other"]);
  await proxy.idle();
});
