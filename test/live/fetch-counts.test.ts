import { getEventListeners } from "node:events";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { isBobtailError } from "../../packages/bobtail/src/index.ts";
import { backend, client, deadUrl, later, outstanding, until } from "./fetch-backend.ts";

const RICH = { extraRatio: 2, burstCount: 1000 };
const BIG = "x".repeat(2_000_000);

test("an answer without a body ends its attempt at once", async () => {
  const b = await backend((request, response) => {
    if (request.method === "HEAD") response.writeHead(200, { "content-length": 9 }).end();
    else if (request.url === "/204") response.writeHead(204).end();
    else response.writeHead(200, { "content-length": 0 }).end();
  });
  const c = client([b.url]);
  for (const [path, method] of [
    ["/", "HEAD"],
    ["/204", "GET"],
    ["/0", "GET"],
  ] as const) {
    await c.fetch(path, { method });
    expect(outstanding(c)).toBe(0);
  }
});

test("a short body that nobody reads does not keep its attempt", async () => {
  const b = await backend((_, response) => response.end("short"));
  const c = client([b.url]);
  const kept: Response[] = [];
  for (let i = 0; i < 5; i++) kept.push(await c.fetch("/"));
  await until(() => outstanding(c) === 0);
  expect(await Promise.all(kept.map((r) => r.text()))).toEqual(Array(5).fill("short"));
});

test("B8: a long body that nobody reads is let go at the deadline, and others are served meanwhile", async () => {
  const b = await backend((_, response) => response.end(BIG));
  const c = client([b.url], { limit: { perEndpoint: 2 } });
  const unread = await c.fetch("/", { deadlineMs: 300 });
  expect(outstanding(c)).toBe(1);
  expect((await (await c.fetch("/")).text()).length).toBe(BIG.length);
  await until(() => outstanding(c) === 0);
  await expect(unread.text()).rejects.toMatchObject({ code: "ERR_BOBTAIL_DEADLINE" });
});

test("an answer given because all failed is let go at the deadline too, if nobody reads it", async () => {
  const b = await backend((_, response) => response.writeHead(503).end(BIG));
  const c = client([b.url], { retry: { max: 0 } });
  const unread = await c.fetch("/", { deadlineMs: 300 });
  expect([unread.status, outstanding(c), b.open.size]).toEqual([503, 0, 1]);
  await until(() => b.open.size === 0);
  await expect(unread.text()).rejects.toThrow(TypeError);
});

test("a body cancelled by its reader ends its attempt, and is no failure", async () => {
  const b = await backend((_, response) => response.end(BIG));
  const c = client([b.url]);
  const response = await c.fetch("/");
  await response.body?.cancel();
  await until(() => outstanding(c) === 0 && b.open.size === 0);
  expect([c.stats().succeeded, c.stats().endpoints[0]?.failures]).toEqual([1, 0]);
});

test("a body that stalls while it is being read is cut off, and one whose reader rests is not", async () => {
  const b = await backend((request, response) => {
    if (request.url === "/stall") response.write("some");
    else response.end(BIG);
  });
  const c = client([b.url], { timeout: { bodyIdleMs: 50 } });
  const stalled = await c.fetch("/stall");
  const error = await stalled.text().catch((e: unknown) => e);
  expect(error).toBeInstanceOf(TypeError);
  expect(isBobtailError((error as Error).cause, "ERR_BOBTAIL_BODY_STALLED")).toBe(true);
  expect(c.stats().endpoints[0]?.failures).toBe(1);
  const rested = await c.fetch("/big");
  // Another body stalls to its end while this one waits for its reader.
  await (await c.fetch("/stall")).text().catch(() => {});
  await (await c.fetch("/stall")).text().catch(() => {});
  expect((await rested.text()).length).toBe(BIG.length);
  await until(() => outstanding(c) === 0);
});

test("B26: a long-lived signal has as many listeners after a thousand calls as before", async () => {
  const b = await backend((_, response) => response.end("ok"));
  const c = client([b.url]);
  const { signal } = new AbortController();
  const warnings: Error[] = [];
  const listener = (warning: Error) => warnings.push(warning);
  process.on("warning", listener);
  for (let i = 0; i < 100; i++)
    await Promise.all(
      Array.from({ length: 10 }, async () => (await c.fetch("/", { signal })).text()),
    );
  await until(() => outstanding(c) === 0);
  process.off("warning", listener);
  expect([getEventListeners(signal, "abort").length, warnings.length]).toEqual([0, 0]);
});

test("B29: a limit on connections holds nobody up: a request never waits behind another", async () => {
  const waiting: ServerResponse[] = [];
  const b = await backend((_, response) => void waiting.push(response));
  const c = client([b.url], { limit: { perEndpoint: 3, pending: 10 } });
  const answers = Array.from({ length: 6 }, () => c.fetch("/"));
  await until(() => waiting.length === 3);
  expect([b.opened, c.stats().pending]).toEqual([3, 3]);
  for (const response of waiting.splice(0)) response.end("ok");
  await until(() => waiting.length === 3);
  for (const response of waiting) response.end("ok");
  for (const answer of answers) expect(await (await answer).text()).toBe("ok");
  expect(b.opened).toBeLessThanOrEqual(6);
});

test("40: counts, sockets and attempts are exact after every kind of exit", async () => {
  const b = await backend((request, response, n) => {
    const kind = n % 8;
    if (kind === 0) request.socket.destroy();
    else if (kind === 1) response.writeHead(503).end("no");
    else if (kind === 2) response.write("half", () => request.socket.destroy());
    else if (kind === 3) response.writeHead(204).end();
    else if (kind === 4) setTimeout(() => response.end("late"), 20);
    else response.end("x".repeat(n * 100));
  });
  const c = client([b.url, { url: b.url.replace("127.0.0.1", "localhost") }, await deadUrl()], {
    hedge: { afterMs: 5 },
    budget: RICH,
    deadlineMs: 2000,
  });
  const one = async (i: number) => {
    const abort = new AbortController();
    if (i % 10 === 0) setImmediate(() => abort.abort());
    const response = await c.fetch("/", { signal: abort.signal });
    if (i % 3 === 0) await response.body?.cancel();
    else await response.text();
  };
  for (let round = 0; round < 20; round++)
    await Promise.allSettled(Array.from({ length: 20 }, (_, i) => one(i)));
  await until(() => outstanding(c) === 0);
  const { calls, attempts, hedges, retries, replaced, running, endpoints } = c.stats();
  expect([calls, running, attempts]).toEqual([400, 0, calls + hedges + retries + replaced]);
  expect(endpoints.map((e) => e.outstanding)).toEqual([0, 0, 0]);
  await c.close();
  await until(() => b.open.size === 0);
});

test("an endpoint that leaves keeps what runs there, and its connections close when that is done", async () => {
  const waiting: ServerResponse[] = [];
  const a = await backend((_, response) => void waiting.push(response));
  const b = await backend((_, response) => response.end("b"));
  const c = client([a.url]);
  const first = c.fetch("/");
  const second = c.fetch("/");
  await until(() => waiting.length === 2);
  waiting[1]?.end("idle now");
  await (await Promise.race([first, second])).text();
  c.setEndpoints([b.url]);
  await until(() => a.open.size === 1);
  expect(await (await c.fetch("/")).text()).toBe("b");
  waiting[0]?.end("done");
  const answers = await Promise.all([first, second]);
  expect(answers.map((r) => r.status)).toEqual([200, 200]);
  await until(() => a.open.size === 0);
});

test("an endpoint that comes back is served anew", async () => {
  const a = await backend((_, response) => response.end("a"));
  const b = await backend((_, response) => response.end("b"));
  const c = client([a.url]);
  await (await c.fetch("/")).text();
  c.setEndpoints([b.url]);
  await (await c.fetch("/")).text();
  c.setEndpoints([a.url]);
  expect(await (await c.fetch("/")).text()).toBe("a");
  await until(() => b.open.size === 0);
});

test("an endpoint that moves to another address under its name is served there", async () => {
  const a = await backend((_, response) => response.end("a"));
  const b = await backend((_, response) => response.end("b"));
  const c = client([{ name: "one", url: a.url }]);
  expect(await (await c.fetch("/")).text()).toBe("a");
  c.setEndpoints([{ name: "one", url: b.url }]);
  expect(await (await c.fetch("/")).text()).toBe("b");
  await until(() => a.open.size === 0);
  expect(c.stats().endpoints.map((e) => [e.name, e.attempts])).toEqual([["one", 2]]);
});

test("closing a client closes the connections of endpoints that have left too", async () => {
  const a = await backend((_, response) => response.writeHead(503).end(BIG));
  const b = await backend((_, response) => response.end("b"));
  const c = client([a.url], { retry: { max: 0 } });
  const unread = await c.fetch("/");
  c.setEndpoints([b.url]);
  expect([unread.status, a.open.size]).toEqual([503, 1]);
  await c.close();
  await until(() => a.open.size === 0);
  await expect(unread.text()).rejects.toThrow();
});

test("a connection that takes too long is given up, and its request sent elsewhere", async () => {
  // It accepts and then says nothing, so the TLS handshake never ends.
  const mute = createServer(() => {});
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  later(() => void mute.close());
  const { port } = mute.address() as AddressInfo;
  const good = await backend((_, response) => response.end("good"));
  const c = client([`https://127.0.0.1:${port}`, good.url], {
    timeout: { connectMs: 50 },
    budget: RICH,
    balance: { policy: "round-robin" },
  });
  for (let i = 0; i < 2; i++) {
    const response = await c.fetch("/", { method: "POST", body: "not sent, so sent elsewhere" });
    expect(await response.text()).toBe("good");
  }
  expect(c.stats().replaced).toBe(1);
});

test("closing a client closes every connection", async () => {
  const b = await backend((_, response) => response.end("ok"));
  const c = client([{ url: b.url, virtual: true }], { hedge: { afterMs: 1000 } });
  await Promise.all(Array.from({ length: 5 }, async () => (await c.fetch("/")).text()));
  expect(b.open.size).toBeGreaterThan(0);
  await c.close();
  await until(() => b.open.size === 0);
  await expect(c.fetch("/")).rejects.toMatchObject({ code: "ERR_BOBTAIL_CLOSED" });
});
