import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Agent, request } from "undici";
import { expect, test } from "vitest";
import { isBobtailError } from "../../packages/bobtail/src/index.ts";
import { bobtailInterceptor } from "../../packages/bobtail/src/undici.ts";
import { backend, bodyOf, deadUrl, later, until } from "./fetch-backend.ts";
import {
  agentOf,
  BIG,
  DELAY_MS,
  ORIGIN,
  outstanding,
  pair,
  RICH,
} from "./fetch-interceptor.testbed.ts";

test("all failed: the last real answer, whole; without one, one error with every cause", async () => {
  const bad = await backend((_, response, n) => response.writeHead(503).end(`${n}${BIG}`));
  const { agent, service } = agentOf([bad.url]);
  const { statusCode, body } = await request(ORIGIN, { dispatcher: agent });
  expect([statusCode, await body.text()]).toEqual([503, `2${BIG}`]);
  expect(service.stats().attempts).toBe(2);
  const dead = agentOf([await deadUrl()]);
  const error = await request(ORIGIN, { dispatcher: dead.agent }).catch((e: unknown) => e);
  expect(isBobtailError(error, "ERR_BOBTAIL_ALL_FAILED")).toBe(true);
});

test("an answer that was given because all failed can still be cut off by its reader", async () => {
  const bad = await backend((_, response) => response.writeHead(503).end(BIG));
  const { agent } = agentOf([bad.url], { retry: { max: 0 } });
  const { body } = await request(ORIGIN, { dispatcher: agent });
  body.on("error", () => {});
  body.destroy();
  await until(() => bad.open.size === 0);
});

test("a held answer whose connection broke meanwhile does not leave the caller waiting", async () => {
  let held: ServerResponse | undefined;
  let second: IncomingMessage | undefined;
  const bad = await backend((request, response, n) => {
    if (n === 1) {
      held = response.writeHead(503, { "content-length": 1000 });
      response.write("some");
    } else second = request;
  });
  const { agent, service } = agentOf([bad.url]);
  const answer = request(ORIGIN, { dispatcher: agent });
  await until(() => second !== undefined);
  const broken = new Promise<void>((resolve) => {
    const listener = () => {
      unsubscribe("undici:request:error", listener);
      resolve();
    };
    subscribe("undici:request:error", listener);
  });
  held?.socket?.resetAndDestroy();
  await broken;
  second?.socket.destroy();
  const { statusCode, body } = await answer;
  expect(statusCode).toBe(503);
  await expect(body.text()).rejects.toMatchObject({ code: "ECONNRESET" });
  expect([service.stats().attempts, outstanding(service)]).toEqual([2, 0]);
});

test("an answer given because all failed is cut off at the call's deadline", async () => {
  const bad = await backend((_, response) => response.writeHead(503).write("some"));
  const { agent, time } = agentOf([bad.url], { retry: { max: 0 }, deadlineMs: 500 });
  const { body } = await request(ORIGIN, { dispatcher: agent });
  const reading = expect(body.text()).rejects.toMatchObject({ code: "ERR_BOBTAIL_BODY_STALLED" });
  await time.advance(500);
  await reading;
  await until(() => bad.open.size === 0);
  expect(time.pendingCount).toBe(0);
});

test("a handler that throws at an answer given because all failed is told so, as undici tells it", async () => {
  const bad = await backend((_, response) => response.writeHead(503).end(BIG));
  const { agent } = agentOf([bad.url], { retry: { max: 0 } });
  const mistake = new Error("of the handler");
  const told = await new Promise((resolve) => {
    agent.dispatch(
      { origin: ORIGIN, path: "/", method: "GET" },
      {
        onRequestStart() {},
        onResponseStart() {
          throw mistake;
        },
        onResponseError: (_, error) => resolve(error),
      },
    );
  });
  expect(told).toBe(mistake);
  await until(() => bad.open.size === 0);
});

test("a kept-alive connection that the server closed is no failure: the request goes out again", async () => {
  const served = new Map<Socket, number>();
  const b = await backend((request, response) => {
    const { socket } = request;
    served.set(socket, (served.get(socket) ?? 0) + 1);
    if (served.get(socket) === 2) socket.destroy();
    else response.end("ok");
  });
  const service = bobtailInterceptor({ origin: ORIGIN, endpoints: [b.url], budget: RICH });
  const one = new Agent({ connections: 1 });
  later(() => one.destroy());
  const dispatcher = one.compose(service);
  for (let i = 0; i < 3; i++)
    expect(await (await request(ORIGIN, { dispatcher })).body.text()).toBe("ok");
  const { attempts, retries, endpoints } = service.stats();
  expect([attempts, retries, endpoints[0]?.failures]).toEqual([3, 0, 0]);
  expect(b.requests.length).toBeGreaterThan(3);
});

test("no copy is sent into Retry-After", async () => {
  const busy = await backend((_, response) => {
    response.writeHead(503, { "retry-after": "30" }).end("busy");
  });
  const { agent, service } = agentOf([busy.url, busy.url.replace("127.0.0.1", "localhost")], {
    deadlineMs: 1000,
  });
  const { body } = await request(ORIGIN, { dispatcher: agent });
  expect([await body.text(), busy.requests.length]).toEqual(["busy", 1]);
  expect([service.stats().attempts, service.stats().skipped.pushback]).toEqual([1, 1]);
});

test("30: a POST that was sent is not repeated; one that was not is", async () => {
  const cut = await backend(async (request) => {
    await bodyOf(request);
    request.socket.destroy();
  });
  const { agent } = agentOf([cut.url]);
  const post = { method: "POST", body: "order" } as const;
  await expect(request(ORIGIN, { dispatcher: agent, ...post })).rejects.toThrow();
  expect(cut.requests.length).toBe(1);
  const good = await backend((_, response) => response.end("good"));
  const other = agentOf([await deadUrl(), good.url], { balance: { policy: "round-robin" } });
  for (let i = 0; i < 3; i++) {
    const { body } = await request(ORIGIN, { dispatcher: other.agent, ...post });
    expect(await body.text()).toBe("good");
  }
});

test("29: an answer that is held while another copy runs is not read into memory", async () => {
  const piece = Buffer.alloc(64 * 1024, "z");
  let sentBytes = 0;
  const { waiting, servers, urls } = await pair((_, response) => {
    response.writeHead(503);
    const pour = () => {
      do sentBytes += piece.length;
      while (sentBytes < 1 << 28 && response.write(piece));
    };
    response.on("drain", pour);
    pour();
  });
  const { agent, time } = agentOf(urls, { hedge: { afterMs: DELAY_MS }, retry: { max: 0 } });
  const answer = request(ORIGIN, { dispatcher: agent });
  await until(() => waiting.length === 1);
  await time.advance(DELAY_MS);
  await until(() => sentBytes > 0);
  for (let i = 0; i < 300; i++) await new Promise((resolve) => setImmediate(resolve));
  expect(sentBytes).toBeLessThan(1 << 25);
  waiting[0]?.end("first");
  expect(await (await answer).body.text()).toBe("first");
  await until(() => servers.reduce((sum, s) => sum + s.open.size, 0) === 1);
});

test("a body that stalls is broken for its reader, and a failure of its endpoint", async () => {
  const b = await backend((_, response) => response.write("some"));
  const { agent, service } = agentOf([b.url], { timeout: { bodyIdleMs: 10 } });
  const { body } = await request(ORIGIN, { dispatcher: agent });
  await expect(body.text()).rejects.toMatchObject({ code: "UND_ERR_BODY_TIMEOUT" });
  expect([outstanding(service), service.stats().endpoints[0]?.failures]).toEqual([0, 1]);
});
