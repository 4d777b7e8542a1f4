import type { ServerResponse } from "node:http";
import { afterEach, expect, test } from "vitest";
import { ask, gate, Testbed, until } from "./proxy-testbed.ts";

const bed = new Testbed();
afterEach(() => bed.close());

/** Two backends of one counter: the first request of all waits, later ones are answered. */
async function firstIsSlow(
  answer: (response: ServerResponse, nth: number) => void = (response, nth) =>
    response.end(`copy ${nth}`),
) {
  let count = 0;
  const waiting: ServerResponse[] = [];
  const handler = (_request: unknown, response: ServerResponse) => {
    if (++count === 1) waiting.push(response);
    else answer(response, count);
  };
  const pair = [await bed.backend(handler), await bed.backend(handler)];
  return { pair, urls: pair.map((b) => b.url), waiting };
}

const HEDGE = { hedge: { afterMs: 5 }, budget: { extraRatio: 1 } };

test("a slow copy is hedged on another endpoint, the faster answer is passed on, the slower one is cancelled", async () => {
  const { pair, urls } = await firstIsSlow();
  const proxy = await bed.service(urls, HEDGE);
  expect((await proxy.get("/")).body.toString()).toBe("copy 2");
  await until(() => pair[0]?.cancelled === 1 || pair[1]?.cancelled === 1);
  expect(pair.map((b) => b.requests.length)).toEqual([1, 1]);
  expect([proxy.stats.hedges, proxy.stats.hedges_won]).toEqual([1, 1]);
  await proxy.idle();
});

test("B6, linkerd 15649: every copy sends the same body bytes, once", async () => {
  const { pair, urls } = await firstIsSlow();
  const proxy = await bed.service(urls, HEDGE);
  const answer = await ask(proxy.port, {
    method: "PUT",
    headers: { "idempotency-key": "k1" },
    pieces: [Buffer.from("late "), Buffer.from("body")],
  });
  expect(answer.status).toBe(200);
  await until(() => pair.every((b) => b.bodies.length === 1));
  expect(pair.map((b) => b.bodies.map(String))).toEqual([["late body"], ["late body"]]);
  expect(pair.map((b) => b.requests[0]?.headers["idempotency-key"])).toEqual(["k1", "k1"]);
});

test("B7: a body too long to keep is sent once and never hedged", async () => {
  const { pair, urls, waiting } = await firstIsSlow();
  const proxy = await bed.service(urls, { ...HEDGE, limit: { replayBodyBytes: 8 } });
  const answer = ask(proxy.port, {
    method: "PUT",
    headers: { "idempotency-key": "k" },
    body: "0123456789",
  });
  await until(() => waiting.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 25));
  waiting[0]?.end("alone");
  expect((await answer).body.toString()).toBe("alone");
  expect(pair.reduce((sum, b) => sum + b.requests.length, 0)).toBe(1);
});

test("pingora 979: a POST without an idempotency key is never sent twice", async () => {
  const { pair, urls, waiting } = await firstIsSlow();
  const proxy = await bed.service(urls, HEDGE);
  const answer = ask(proxy.port, { method: "POST", body: "x" });
  await until(() => waiting.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 25));
  waiting[0]?.destroy();
  expect((await answer).status).toBe(502);
  expect(pair.reduce((sum, b) => sum + b.requests.length, 0)).toBe(1);
  expect(proxy.stats.skipped.not_idempotent).toBe(1);
});

test("B1: a winner's body is read to its end long after the loser was cancelled", async () => {
  const rest = gate();
  const { urls } = await firstIsSlow((response) => {
    response.write("begin ");
    void rest.opened.then(() => response.end("end"));
  });
  const proxy = await bed.service(urls, HEDGE);
  const answer = proxy.get("/");
  await until(() => proxy.stats.hedges_won === 1);
  expect(proxy.stats.endpoints.map((e) => e.superseded).sort()).toEqual([0, 1]);
  rest.open();
  expect((await answer).body.toString()).toBe("begin end");
  await proxy.idle();
});

test("a stream of events is won by its first byte, not by its headers", async () => {
  // The first server sends its headers at once and its first byte late.
  let count = 0;
  const early: ServerResponse[] = [];
  const handler = (_request: unknown, response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    if (++count === 1) {
      response.flushHeaders();
      early.push(response);
    } else response.end("data: fast\n\n");
  };
  const pair = [await bed.backend(handler), await bed.backend(handler)];
  const proxy = await bed.service(
    pair.map((b) => b.url),
    HEDGE,
  );
  expect((await proxy.get("/")).body.toString()).toBe("data: fast\n\n");
  expect(proxy.stats.hedges_won).toBe(1);
  await until(() => pair.some((b) => b.cancelled === 1));
  await proxy.idle();
});

test("where headers commit, a server that answers its headers first has won", async () => {
  const late = gate();
  const handler = (_request: unknown, response: ServerResponse) => {
    response.flushHeaders();
    void late.opened.then(() => response.end("slow body"));
  };
  const pair = [await bed.backend(handler), await bed.backend(handler)];
  const proxy = await bed.service(
    pair.map((b) => b.url),
    HEDGE,
  );
  const answer = proxy.get("/");
  await until(() => proxy.stats.endpoints.some((e) => e.wins === 1));
  const before = proxy.stats.attempts;
  await new Promise((resolve) => setTimeout(resolve, 25));
  expect(proxy.stats.attempts).toBe(before);
  late.open();
  expect((await answer).body.toString()).toBe("slow body");
});

test("a service can be told to commit at the first byte whatever it sends", async () => {
  let count = 0;
  const handler = (_request: unknown, response: ServerResponse) => {
    if (++count === 1) response.flushHeaders();
    else response.end("fast");
  };
  const pair = [await bed.backend(handler), await bed.backend(handler)];
  const proxy = await bed.service(
    pair.map((b) => b.url),
    HEDGE,
    { commit: "first-byte" },
  );
  expect((await proxy.get("/")).body.toString()).toBe("fast");
});

test("envoy 8857: nothing is hedged after the first byte, however long the stream stays silent", async () => {
  const more = gate();
  const handler = (_request: unknown, response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    void more.opened.then(() => response.end("data: 2\n\n"));
  };
  const pair = [await bed.backend(handler), await bed.backend(handler)];
  const proxy = await bed.service(
    pair.map((b) => b.url),
    HEDGE,
  );
  const answer = proxy.get("/");
  await until(() => proxy.stats.endpoints.some((e) => e.wins === 1));
  const before = proxy.stats.attempts;
  await new Promise((resolve) => setTimeout(resolve, 25));
  expect(proxy.stats.attempts).toBe(before);
  more.open();
  expect((await answer).body.toString()).toBe("data: 1\n\ndata: 2\n\n");
});

test("every attempt is told what is left of the deadline, its number and kind, and to add no copies", async () => {
  const { pair, urls } = await firstIsSlow();
  const proxy = await bed.service(urls, { ...HEDGE, deadlineMs: 5000 });
  await proxy.get("/", { "bobtail-deadline-ms": "300" });
  const seen = pair.map((b) => b.requests[0]?.headers ?? {});
  const numbers = seen.map((h) => Number(h["bobtail-deadline-ms"])).sort((a, b) => b - a);
  expect(numbers[0]).toBeLessThan(300);
  expect(numbers[1]).toBeLessThan(numbers[0] ?? 0);
  expect(seen.map((h) => h["bobtail-attempt"]).sort()).toEqual(["2;kind=hedge", undefined]);
  expect(seen.map((h) => h["bobtail-no-hedge"])).toEqual(["1", "1"]);
});

test("envoy 13196: the time told is the lesser of the attempt's timeout and what is left", async () => {
  const told: number[] = [];
  const handler = (request: import("node:http").IncomingMessage, response: ServerResponse) => {
    told.push(Number(request.headers["bobtail-deadline-ms"]));
    if (told.length === 3) response.end("at last");
  };
  const three = [
    await bed.backend(handler),
    await bed.backend(handler),
    await bed.backend(handler),
  ];
  const proxy = await bed.service(
    three.map((b) => b.url),
    { deadlineMs: 250, timeout: { attemptMs: 100 }, retry: { max: 2 }, budget: { extraRatio: 1 } },
  );
  expect((await proxy.get("/")).status).toBe(200);
  expect(told[0]).toBe(99);
  expect(told[1]).toBe(99);
  expect(told[2]).toBeLessThan(51);
});

test("a call marked by an upper level gets no copies, and passes the mark on", async () => {
  const { pair, urls, waiting } = await firstIsSlow();
  const proxy = await bed.service(urls, HEDGE);
  const answer = proxy.get("/", { "bobtail-no-hedge": "1" });
  await until(() => waiting.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 25));
  waiting[0]?.end("alone");
  expect((await answer).body.toString()).toBe("alone");
  const requests = pair.flatMap((b) => b.requests);
  expect(requests).toHaveLength(1);
  expect(requests[0]?.headers["bobtail-no-hedge"]).toBe("1");
});

test("marks and deadlines of a peer that is not trusted are stripped and mean nothing", async () => {
  const { pair, urls } = await firstIsSlow();
  const proxy = await bed.service(urls, HEDGE, { trust: [] });
  const answer = await proxy.get("/", {
    "bobtail-no-hedge": "1",
    "bobtail-attempt": "7;kind=hedge",
    "bobtail-deadline-ms": "1",
    "grpc-timeout": "1m",
    "x-envoy-expected-rq-timeout-ms": "1",
    "bobtail-anything": "1",
  });
  expect(answer.body.toString()).toBe("copy 2");
  for (const { headers } of pair.flatMap((b) => b.requests)) {
    expect(headers["bobtail-anything"]).toBeUndefined();
    expect(headers["grpc-timeout"]).toBeUndefined();
    expect(headers["x-envoy-expected-rq-timeout-ms"]).toBeUndefined();
    expect(headers["bobtail-attempt"]).not.toBe("7;kind=hedge");
    expect(Number(headers["bobtail-deadline-ms"])).toBeGreaterThan(1000);
  }
});

test("grpc-timeout is read before the other deadlines and sent on with what is left", async () => {
  const backend = await bed.backend((_q, r) => r.end());
  const proxy = await bed.service([backend.url]);
  await proxy.get("/", {
    "x-envoy-expected-rq-timeout-ms": "7000",
    "bobtail-deadline-ms": "8000",
    "grpc-timeout": "5S",
  });
  const { headers } = backend.requests[0] ?? { headers: {} };
  expect(headers["bobtail-deadline-ms"]).toBe("4999");
  expect(headers["grpc-timeout"]).toBe("4999m");
  expect(headers["x-envoy-expected-rq-timeout-ms"]).toBeUndefined();
});

test("gateway 5689: one endpoint alone is not hedged, a virtual one is, on another connection", async () => {
  const alone = await firstIsSlow();
  const proxy = await bed.service([alone.urls[0] ?? ""], HEDGE);
  const answer = proxy.get("/");
  await until(() => proxy.stats.skipped.no_alternative === 1 && alone.waiting[0] !== undefined);
  alone.waiting[0]?.end("itself");
  expect((await answer).body.toString()).toBe("itself");

  const vip = await firstIsSlow();
  const virtual = await bed.service([{ url: vip.urls[0] ?? "", virtual: true }], HEDGE);
  expect((await virtual.get("/")).body.toString()).toBe("copy 2");
  expect(vip.pair[0]?.connections).toBe(2);
  await virtual.idle();
});

test("B8: a loser's connection is given back or closed, so that its endpoint can be used again", async () => {
  let count = 0;
  const handler = (_request: unknown, response: ServerResponse) => {
    if (++count % 2 === 0) response.end("x".repeat(100));
  };
  const pair = [await bed.backend(handler), await bed.backend(handler)];
  const options = {
    ...HEDGE,
    limit: { perEndpoint: 1 },
    budget: { extraRatio: 2, burstCount: 100 },
  };
  const proxy = await bed.service(
    pair.map((b) => b.url),
    options,
  );
  for (let i = 0; i < 20; i++) expect((await proxy.get("/")).body.length).toBe(100);
  await proxy.idle();
  expect(proxy.stats.hedges).toBe(20);
});
