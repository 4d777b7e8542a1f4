import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { isBobtailError } from "../../packages/bobtail/src/index.ts";
import { backend, bodyOf, client, gate, later, outstanding, until } from "./fetch-backend.ts";

const RICH = { extraRatio: 2, burstCount: 1000 };
const SOON = { hedge: { afterMs: 5 }, budget: RICH };
/** Each call's first copy goes to the first endpoint while nothing is known to tell them apart. */
const IN_ORDER = { balance: { policy: "round-robin", errorPenalty: false } } as const;

/** Answers nothing until it is let go. */
function slow() {
  const waiting: ServerResponse[] = [];
  return {
    waiting,
    handler: (_: unknown, response: ServerResponse) => void waiting.push(response),
  };
}

test("B1, B3: the winner's body can be read long after its headers, and after its losers are gone", async () => {
  const stuck = slow();
  const last = gate();
  const bodyBytes = 512 * 1024;
  const a = await backend(stuck.handler);
  const b = await backend(async (_, response) => {
    response.write("x".repeat(1000));
    await last.opened;
    response.end("y".repeat(bodyBytes - 1000));
  });
  const c = client([a.url, b.url], { ...SOON });
  const response = await c.fetch("/");
  expect(response.url).toBe(`${b.url}/`);
  await until(() => a.open.size === 0);
  last.open();
  expect((await response.text()).length).toBe(bodyBytes);
  await until(() => outstanding(c) === 0);
});

test("B2: every copy has a signal of its own, and nothing is launched after an abort", async () => {
  const stuck = slow();
  const servers = await Promise.all([1, 2, 3].map(() => backend(stuck.handler)));
  const c = client(
    servers.map((s) => s.url),
    { hedge: { afterMs: 5, max: 2 }, budget: RICH },
  );
  const abort = new AbortController();
  const answer = c.fetch("/", { signal: abort.signal });
  await until(() => stuck.waiting.length === 2);
  abort.abort(new Error("enough"));
  await expect(answer).rejects.toThrow("enough");
  await until(() => servers.every((s) => s.open.size === 0));
  expect([c.stats().attempts, outstanding(c)]).toEqual([2, 0]);
});

test("B6: each copy sends the whole body", async () => {
  const bodies: string[] = [];
  const stuck = slow();
  const keep = async (request: Parameters<typeof bodyOf>[0]) => bodies.push(await bodyOf(request));
  const a = await backend(
    (request, response) => void keep(request).then(() => stuck.handler(0, response)),
  );
  const b = await backend(
    (request, response) => void keep(request).then(() => response.end("done")),
  );
  const c = client([a.url, b.url], { ...SOON, ...IN_ORDER });
  const text = "bytes of a body".repeat(5000);
  const forms = [text, new TextEncoder().encode(text), new Blob([text])];
  for (const body of forms) {
    const init = { method: "PUT", body, headers: { "idempotency-key": "k" } };
    expect(await (await c.fetch("/", init)).text()).toBe("done");
  }
  const request = new Request(a.url, { method: "PUT", body: text });
  expect(await (await c.fetch(request, { idempotent: true })).text()).toBe("done");
  expect(c.stats().hedges).toBeGreaterThan(0);
  expect(bodies.length).toBe(c.stats().attempts);
  expect(bodies.every((body) => body === text)).toBe(true);
  const keys = [...a.requests, ...b.requests].map((r) => r.headers["idempotency-key"]);
  expect(keys.filter((key) => key === "k").length).toBeGreaterThan(3);
});

test("B7: a streamed body is sent once, unhedged, and the call goes on", async () => {
  const held = gate();
  const b = [];
  for (let i = 0; i < 2; i++) {
    b.push(
      await backend(async (request, response) => {
        const text = await bodyOf(request);
        await held.opened;
        response.end(text);
      }),
    );
  }
  const c = client(
    b.map((s) => s.url),
    { hedge: { afterMs: 1 }, budget: RICH },
  );
  const body = new Blob(["streamed"]).stream();
  const answer = c.fetch("/", { method: "PUT", body, idempotent: true });
  await until(() => b.some((s) => s.requests.length > 0));
  // A call that may be hedged is, meanwhile: the timer has had its chance.
  const other = c.fetch("/");
  await until(() => c.stats().hedges === 1);
  held.open();
  expect(await (await answer).text()).toBe("streamed");
  await other;
  expect(c.stats().attempts).toBe(3);
});

test("a copy is marked with its number and kind, and every one asks the levels below not to hedge", async () => {
  const stuck = slow();
  const a = await backend(stuck.handler);
  const b = await backend(stuck.handler);
  const c = client([a.url, b.url], { ...SOON, deadlineMs: 10_000 });
  const answer = c.fetch("/");
  await until(() => stuck.waiting.length === 2);
  const marks = [...a.requests, ...b.requests].map((r) => r.headers);
  expect(marks.map((h) => h["bobtail-no-hedge"])).toEqual(["1", "1"]);
  expect(marks.map((h) => h["bobtail-attempt"] ?? "first").sort()).toEqual([
    "2;kind=hedge",
    "first",
  ]);
  const lefts = marks.map((h) => Number(h["bobtail-deadline-ms"]));
  expect(Math.max(...lefts)).toBeLessThan(10_000);
  for (const response of stuck.waiting) response.end();
  await answer;
});

test("34: a copy is told the smaller of its own timeout and what is left of the deadline", async () => {
  const stuck = slow();
  const a = await backend(stuck.handler);
  const c = client([a.url], {
    deadlineMs: 250,
    timeout: { attemptMs: 100 },
    retry: { max: 2 },
    budget: RICH,
  });
  await expect(c.fetch("/")).rejects.toThrow();
  await until(() => a.open.size === 0);
  const lefts = a.requests.map((r) => Number(r.headers["bobtail-deadline-ms"]));
  expect(lefts.length).toBe(3);
  expect(lefts.slice(0, 2)).toEqual([99, 99]);
  expect(lefts[2]).toBeLessThan(99);
});

test("losers that wait in a server's queue never start", async () => {
  // One worker: a request that is gone when its turn comes is not begun.
  const started = { count: 0 };
  const queue: ServerResponse[] = [];
  const busy = await backend((_, response) => void queue.push(response));
  const quick = await backend((_, response) => response.end("quick"));
  const c = client([busy.url, quick.url], { ...SOON, ...IN_ORDER });
  for (let i = 0; i < 20; i++) await (await c.fetch("/")).text();
  expect(c.stats().hedgesWon).toBe(queue.length);
  expect(queue.length).toBeGreaterThan(5);
  await until(() => busy.open.size === 0);
  for (const response of queue) if (!response.destroyed) started.count++;
  expect(started.count).toBe(0);
  expect(outstanding(c)).toBe(0);
});

test("a loser whose headers have arrived is drained if it is short, and its connection kept", async () => {
  const a = await backend((_, response) => {
    // An event stream counts as begun at its first byte, so these headers do not win.
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    late.push(response);
  });
  const late: ServerResponse[] = [];
  const b = await backend((_, response) => {
    // What the loser still sends comes once it has lost.
    response.end("b", () => setImmediate(() => late[0]?.end("short")));
  });
  const c = client([a.url, b.url], { ...SOON, ...IN_ORDER });
  expect(await (await c.fetch("/")).text()).toBe("b");
  expect(c.stats().hedgesWon).toBe(1);
  expect(outstanding(c)).toBe(0);
  await until(() => late[0]?.writableFinished === true);
  expect([a.opened, a.open.size]).toEqual([1, 1]);
});

test("a loser that goes on sending is cut off", async () => {
  const a = await backend((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    late.push(response);
  });
  const late: ServerResponse[] = [];
  const b = await backend((_, response) => {
    response.end("b", () => setImmediate(() => late[0]?.end("long".repeat(100_000))));
  });
  const c = client([a.url, b.url], { ...SOON, ...IN_ORDER });
  expect(await (await c.fetch("/")).text()).toBe("b");
  await until(() => a.open.size === 0);
});

test("a stream that sends its headers at once and nothing else is still hedged; the winner's first byte is delivered", async () => {
  const mute = await backend((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  });
  const talks = await backend((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    setImmediate(() => response.end("data: 2\n\n"));
  });
  const c = client([mute.url, talks.url], { ...SOON, ...IN_ORDER });
  for (let i = 0; i < 3; i++)
    expect(await (await c.fetch("/")).text()).toBe("data: 1\n\ndata: 2\n\n");
  expect(c.stats().hedgesWon).toBeGreaterThan(0);
  await until(() => mute.open.size === 0);
});

test("commit: first-byte makes every answer wait for its first byte, and an empty one for its end", async () => {
  const mute = await backend((_, response) => void response.writeHead(200).flushHeaders());
  const talks = await backend((request, response) => response.end(request.url === "/a" ? "a" : ""));
  const options = { ...SOON, ...IN_ORDER };
  const c = client([mute.url, talks.url], options, { commit: "first-byte" });
  expect(await (await c.fetch("/a")).text()).toBe("a");
  expect(await (await c.fetch("/b")).text()).toBe("");
  const d = client([mute.url, talks.url], options, { commit: "headers" });
  const response = await d.fetch("/a");
  expect([response.url, d.stats().hedges]).toEqual([`${mute.url}/a`, 0]);
  await response.body?.cancel();
  await until(() => mute.open.size === 0);
});

test("27: an attempt that loses while its own bytes arrive ends once, and its bytes reach nobody", async () => {
  const open: ServerResponse[] = [];
  const gateway = gate();
  const answer = (text: string) => async (_: unknown, response: ServerResponse) => {
    open.push(response);
    if (open.length === 2) gateway.open();
    await gateway.opened;
    response.end(text);
  };
  const a = await backend(answer("a".repeat(100)));
  const b = await backend(answer("b".repeat(100)));
  const c = client([a.url, b.url], SOON);
  for (let i = 0; i < 10; i++) {
    open.length = 0;
    const text = await (await c.fetch("/")).text();
    expect(["a".repeat(100), "b".repeat(100)]).toContain(text);
  }
  await until(() => outstanding(c) === 0);
  const { attempts, calls, hedges, retries } = c.stats();
  expect(attempts).toBe(calls + hedges + retries);
});

test("B17: a hedge to one virtual endpoint takes another connection, open before it is needed", async () => {
  const ports = new Map<number | undefined, number>();
  let slowPort: number | undefined;
  const b = await backend((request, response) => {
    const port = request.socket.remotePort;
    ports.set(port, (ports.get(port) ?? 0) + 1);
    // Whatever comes over the first connection is stuck.
    slowPort ??= port;
    if (port !== slowPort) response.end("other");
  });
  const c = client([{ url: b.url, virtual: true }], { hedge: { afterMs: 1000 }, budget: RICH });
  const answer = c.fetch("/");
  await until(() => b.opened === 2 && b.requests.length === 1);
  expect([b.requests.length, c.stats().hedges]).toEqual([1, 0]);
  expect(await (await answer).text()).toBe("other");
  expect([c.stats().hedgesWon, ports.size]).toEqual([1, 2]);
  await until(() => outstanding(c) === 0);
  expect(await (await c.fetch("/")).text()).toBe("other");
});

test("copies cancelled on HTTP/1.1 are told a reason of their own, which the caller never sees", async () => {
  const stuck = slow();
  const a = await backend(stuck.handler);
  const b = await backend((_, response) => response.end("b"));
  const c = client([a.url, b.url], { ...SOON, ...IN_ORDER });
  const rejections: unknown[] = [];
  const listener = (reason: unknown) => rejections.push(reason);
  process.on("unhandledRejection", listener);
  later(() => process.off("unhandledRejection", listener));
  for (let i = 0; i < 10; i++) await (await c.fetch("/")).text();
  await until(() => a.open.size === 0);
  expect(rejections.filter((r) => isBobtailError(r, "ERR_BOBTAIL_SUPERSEDED"))).toEqual([]);
  expect(rejections).toEqual([]);
});
