import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { virtualTime } from "../../packages/bobtail/src/testing.ts";
import {
  backend,
  bodyOf,
  client,
  gate,
  type Handler,
  later,
  outstanding,
  until,
} from "./fetch-backend.ts";
import {
  DELAY_MS,
  hedged,
  hedging,
  isFirst,
  opens,
  pair,
  RICH,
  stuck,
} from "./fetch-hedge.testbed.ts";

test("B1, B3: the winner's body can be read long after its headers, and after its losers are gone", async () => {
  const { waiting, handler } = stuck();
  const last = gate();
  const sizeBytes = 512 * 1024;
  const servers = await pair(handler, async (_, response) => {
    response.write("x".repeat(1000));
    await last.opened;
    response.end("y".repeat(sizeBytes - 1000));
  });
  const { time, c } = hedging(servers.map((s) => s.url));
  const response = await hedged(c.fetch("/"), time, () => waiting.length === 1);
  await until(() => opens(servers) === 1);
  last.open();
  expect((await response.text()).length).toBe(sizeBytes);
  await until(() => outstanding(c) === 0);
  expect([c.stats().hedgesWon, time.pendingCount]).toEqual([1, 0]);
});

test("B2: every copy has a signal of its own, and nothing is launched after an abort", async () => {
  const { waiting, handler } = stuck();
  const servers = await Promise.all([1, 2, 3, 4].map(() => backend(handler)));
  const { time, c } = hedging(
    servers.map((s) => s.url),
    { hedge: { afterMs: DELAY_MS, max: 2 } },
  );
  const abort = new AbortController();
  const answer = c.fetch("/", { signal: abort.signal });
  await time.advance(DELAY_MS);
  await until(() => waiting.length === 2);
  const reason = new Error("enough");
  abort.abort(reason);
  await expect(answer).rejects.toBe(reason);
  await time.advance(10 * DELAY_MS);
  await until(() => opens(servers) === 0);
  expect([c.stats().attempts, outstanding(c), time.pendingCount]).toEqual([2, 0, 0]);
});

test("B6: each copy sends the whole body", async () => {
  const bodies: string[] = [];
  const keys: unknown[] = [];
  const take = async (request: IncomingMessage) => {
    keys.push(request.headers["idempotency-key"]);
    bodies.push(await bodyOf(request));
  };
  const servers = await pair(take, async (request, response) => {
    await take(request);
    response.end("done");
  });
  const { time, c } = hedging(servers.map((s) => s.url));
  const text = "bytes of a body".repeat(4000);
  const forms = [text, new TextEncoder().encode(text), new Blob([text])];
  for (const body of forms) {
    bodies.length = 0;
    const answer = c.fetch("/", { method: "PUT", body, headers: { "idempotency-key": "k" } });
    const response = await hedged(answer, time, () => bodies.length === 1);
    expect([await response.text(), bodies]).toEqual(["done", [text, text]]);
  }
  expect(keys).toEqual(Array(6).fill("k"));
  bodies.length = 0;
  const request = new Request(`${servers[0].url}/`, { method: "PUT", body: text });
  const answer = c.fetch(request, { idempotent: true });
  await hedged(answer, time, () => bodies.length === 1);
  expect(bodies).toEqual([text, text]);
});

test("B6: bytes that the caller changes meanwhile are sent as they were", async () => {
  const bodies: string[] = [];
  const servers = await pair(
    async (request) => bodies.push(await bodyOf(request)),
    async (request, response) => {
      bodies.push(await bodyOf(request));
      response.end();
    },
  );
  const { time, c } = hedging(servers.map((s) => s.url));
  const bytes = new TextEncoder().encode("before");
  const answer = c.fetch("/", { method: "PUT", body: bytes, idempotent: true });
  bytes.fill(0);
  await hedged(answer, time, () => bodies.length === 1);
  expect(bodies).toEqual(["before", "before"]);
});

test("B7: a streamed body is sent once, unhedged, and the call goes on", async () => {
  const { waiting, handler } = stuck();
  const servers = await pair(handler, handler);
  const { time, c } = hedging(servers.map((s) => s.url));
  const body = new Blob(["streamed"]).stream();
  const answer = c.fetch("/", { method: "PUT", body, idempotent: true });
  await until(() => waiting.length === 1);
  await time.advance(10 * DELAY_MS);
  waiting[0]?.end("received");
  expect(await (await answer).text()).toBe("received");
  expect([c.stats().attempts, waiting.length]).toEqual([1, 1]);
});

test("a copy is marked with its number and kind, and every one asks the levels below not to hedge", async () => {
  const { waiting, handler } = stuck();
  const servers = await pair(handler, handler);
  const { time, c } = hedging(
    servers.map((s) => s.url),
    { deadlineMs: 500 },
  );
  const answer = c.fetch("/");
  await time.advance(DELAY_MS);
  await until(() => waiting.length === 2);
  const marks = servers.flatMap((s) => s.requests.map((r) => r.headers));
  marks.sort((a, b) => Number(b["bobtail-deadline-ms"]) - Number(a["bobtail-deadline-ms"]));
  expect(marks.map((h) => h["bobtail-no-hedge"])).toEqual(["1", "1"]);
  expect(marks.map((h) => h["bobtail-attempt"])).toEqual([undefined, "2;kind=hedge"]);
  expect(marks.map((h) => h["bobtail-deadline-ms"])).toEqual(["499", "489"]);
  for (const response of waiting) response.end();
  await answer;
});

test("a request that carries an upper level's plea not to hedge is not hedged here either", async () => {
  const { waiting, handler } = stuck();
  const servers = await pair(handler, (_, response) => response.end("second"));
  const { time, c } = hedging(servers.map((s) => s.url));
  const answer = c.fetch("/", { headers: { "bobtail-no-hedge": "1" } });
  await until(() => waiting.length === 1);
  await time.advance(10 * DELAY_MS);
  waiting[0]?.end("first");
  expect(await (await answer).text()).toBe("first");
  expect(c.stats().hedges).toBe(0);
});

test("34: a copy is told the smaller of its own timeout and what is left of the deadline", async () => {
  const { waiting, handler } = stuck();
  const a = await backend(handler);
  const time = virtualTime();
  const c = client([a.url], {
    deadlineMs: 250,
    timeout: { attemptMs: 100 },
    retry: { max: 2 },
    budget: RICH,
    clock: time,
    timers: time,
  });
  const answer = c.fetch("/");
  const outcome = expect(answer).rejects.toMatchObject({ code: "ERR_BOBTAIL_DEADLINE" });
  for (const count of [1, 2, 3]) {
    await until(() => waiting.length === count);
    await time.advance(100);
  }
  await outcome;
  await until(() => a.open.size === 0);
  expect(a.requests.map((r) => r.headers["bobtail-deadline-ms"])).toEqual(["99", "99", "49"]);
});

test("a stream that sends its headers at once and nothing else is hedged; the winner's first byte is delivered", async () => {
  const events = { "content-type": "text/event-stream" };
  const { waiting, handler } = stuck();
  const servers = await pair(
    (request, response, n) => {
      response.writeHead(200, events).flushHeaders();
      handler(request, response, n);
    },
    (_, response) => {
      response.writeHead(200, events);
      response.write("data: 1\n\n");
      setImmediate(() => response.end("data: 2\n\n"));
    },
  );
  const { time, c } = hedging(servers.map((s) => s.url));
  const response = await hedged(c.fetch("/"), time, () => waiting.length === 1);
  expect(await response.text()).toBe("data: 1\n\ndata: 2\n\n");
  expect(c.stats().hedgesWon).toBe(1);
});

test("a stream's first byte is delivered before the stream ends", async () => {
  const { waiting, handler } = stuck();
  const b = await backend((request, response, n) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    handler(request, response, n);
  });
  let headersRead = 0;
  const listener = () => headersRead++;
  subscribe("undici:request:headers", listener);
  later(() => unsubscribe("undici:request:headers", listener));
  const { time, c } = hedging([b.url]);
  const answer = c.fetch("/");
  await until(() => headersRead === 1);
  // Lets every reaction to the headers run, so that the byte is what is waited for.
  await time.advance(1);
  waiting[0]?.write("data: 1\n\n");
  const response = await answer;
  waiting[0]?.end("data: 2\n\n");
  expect(await response.text()).toBe("data: 1\n\ndata: 2\n\n");
});

test("commit: first-byte makes every answer wait for its first byte, and an empty one for its end", async () => {
  const mute: Handler = (_, response) => response.writeHead(200).flushHeaders();
  const servers = await pair(mute, (request, response) => {
    response.end(request.url === "/a" ? "a" : "");
  });
  const urls = servers.map((s) => s.url);
  const arrived = (count: number) => () =>
    servers.reduce((sum, s) => sum + s.requests.length, 0) === count;
  const { time, c } = hedging(urls, {}, { commit: "first-byte" });
  expect(await (await hedged(c.fetch("/a"), time, arrived(1))).text()).toBe("a");
  expect(await (await hedged(c.fetch("/b"), time, arrived(3))).text()).toBe("");
  expect(c.stats().hedgesWon).toBe(2);
  const other = hedging(urls, {}, { commit: "headers" });
  const response = await other.c.fetch("/a");
  await other.time.advance(DELAY_MS);
  expect(other.c.stats().hedges).toBe(0);
  await response.body?.cancel();
});

test("a stream that breaks before its first byte has not begun: another copy is sent", async () => {
  const events = { "content-type": "text/event-stream" };
  const servers = await pair(
    (request, response) => {
      response.writeHead(200, events).flushHeaders();
      setImmediate(() => request.socket.destroy());
    },
    (_, response) => response.writeHead(200, events).end("data: whole\n\n"),
  );
  const { c } = hedging(servers.map((s) => s.url));
  expect(await (await c.fetch("/")).text()).toBe("data: whole\n\n");
  expect(c.stats().retriesWon).toBe(1);
});

test("B17: a hedge to one virtual endpoint takes another connection, open before it is needed", async () => {
  const ports = new Set<number | undefined>();
  const b = await backend((request, response) => {
    ports.add(request.socket.remotePort);
    if (!isFirst(request)) response.end("other");
  });
  const { time, c } = hedging([{ url: b.url, virtual: true }]);
  const answer = c.fetch("/");
  await until(() => b.opened === 2 && b.requests.length === 1);
  // Nothing has asked for it yet.
  expect([b.open.size, c.stats().hedges]).toEqual([2, 0]);
  expect(await (await hedged(answer, time, () => true)).text()).toBe("other");
  expect([c.stats().hedgesWon, ports.size]).toEqual([1, 2]);
  await until(() => outstanding(c) === 0);
});

test("B17: a retry at a virtual endpoint takes another connection too, for there another server may answer", async () => {
  const ports: unknown[] = [];
  const b = await backend((request, response) => {
    ports.push(request.socket.remotePort);
    response.writeHead(isFirst(request) ? 503 : 200).end();
  });
  const time = virtualTime();
  const c = client([{ url: b.url, virtual: true }], { budget: RICH, clock: time, timers: time });
  for (let i = 0; i < 3; i++) expect((await c.fetch("/")).status).toBe(200);
  for (let i = 0; i < 6; i += 2) expect(ports[i]).not.toBe(ports[i + 1]);
  expect(b.opened).toBe(2);
});

test("B17: an endpoint that is not virtual keeps no spare, and its second call shares the first one's connection", async () => {
  const b = await backend((_, response) => response.end("ok"));
  const { c } = hedging([b.url]);
  for (let i = 0; i < 3; i++) await (await c.fetch("/")).text();
  expect(b.opened).toBe(1);
});
