import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { fetch, interceptors, request } from "undici";
import { expect, test } from "vitest";
import { bobtailInterceptor, type InterceptorOptions } from "../../packages/bobtail/src/undici.ts";
import { backend, bodyOf, type Handler, later, until } from "./fetch-backend.ts";
import {
  agentOf,
  BIG,
  DELAY_MS,
  isFirst,
  ORIGIN,
  outstanding,
  pair,
} from "./fetch-interceptor.testbed.ts";

test("requests to the service's origin are spread over its endpoints; others pass untouched", async () => {
  const a = await backend((_, response) => response.end("a"));
  const b = await backend((_, response) => response.end("b"));
  const apart = await backend((request, response) => response.end(JSON.stringify(request.headers)));
  const { agent, service } = agentOf([a.url, b.url], { balance: { policy: "round-robin" } });
  const texts = [];
  for (let i = 0; i < 4; i++) {
    const { body } = await request(`${ORIGIN}/q`, { dispatcher: agent });
    texts.push(await body.text());
  }
  expect(texts.sort()).toEqual(["a", "a", "b", "b"]);
  const { body } = await request(apart.url, { dispatcher: agent });
  expect(await body.text()).not.toContain("bobtail");
  expect([service.stats().calls, service.stats().succeeded]).toEqual([4, 4]);
  await until(() => outstanding(service) === 0);
});

test("fetch over the agent works too: status, headers, decoded body, redirects of the service to itself", async () => {
  const b = await backend((request, response) => {
    if (request.url === "/old") response.writeHead(302, { location: `${ORIGIN}/new` }).end();
    else response.writeHead(201, { "x-path": request.url }).end("made");
  });
  const { agent } = agentOf([b.url]);
  const response = await fetch(`${ORIGIN}/old`, { dispatcher: agent });
  expect([response.status, response.url, response.headers.get("x-path")]).toEqual([
    201,
    `${ORIGIN}/new`,
    "/new",
  ]);
  expect(await response.text()).toBe("made");
});

test("a slow copy is hedged, the loser's connection is closed, and the marks are sent", async () => {
  const { waiting, servers, urls } = await pair((_, response) => response.end("quick"));
  const { agent, service, time } = agentOf(urls, { hedge: { afterMs: DELAY_MS } });
  const headers = { "Bobtail-Attempt": "9", "x-a": "1" };
  const answer = request(`${ORIGIN}/`, { dispatcher: agent, headers });
  await until(() => waiting.length === 1);
  await time.advance(DELAY_MS);
  expect(await (await answer).body.text()).toBe("quick");
  await until(() => waiting[0]?.destroyed === true);
  const seen = servers.flatMap((s) => s.requests.map((r) => r.headers));
  expect(seen.map((h) => h["bobtail-no-hedge"])).toEqual(["1", "1"]);
  expect(seen.map((h) => h["x-a"])).toEqual(["1", "1"]);
  expect(seen.map((h) => h["bobtail-attempt"]).sort()).toEqual(["2;kind=hedge", undefined]);
  expect(seen.map((h) => h["bobtail-deadline-ms"]).sort()).toEqual(["29989", "29999"]);
  expect([service.stats().hedgesWon, outstanding(service), time.pendingCount]).toEqual([1, 0, 0]);
});

test("a header is sent whatever its name, if it is not one of Bobtail's own", async () => {
  const b = await backend((request, response) => response.end(request.headers.constructor));
  const { agent } = agentOf([b.url]);
  const headers = { constructor: "sent" };
  const { body } = await request(ORIGIN, { dispatcher: agent, headers });
  expect(await body.text()).toBe("sent");
});

test("every form of headers is sent", async () => {
  const b = await backend((request, response) => response.end(String(request.headers["x-a"])));
  const { agent } = agentOf([b.url]);
  const forms = [{ "x-a": "1" }, ["x-a", "1"], new Map([["x-a", "1"]]), { "x-a": ["1"] }];
  for (const headers of forms) {
    const { body } = await request(ORIGIN, { dispatcher: agent, headers });
    expect(await body.text()).toBe("1");
  }
});

test("B6: strings and bytes are sent again whole; B7: a stream is sent once", async () => {
  const bodies: string[] = [];
  const bad = await backend(async (request, response, n) => {
    bodies.push(await bodyOf(request));
    response.writeHead(n % 2 === 1 ? 503 : 200).end();
  });
  const { agent, service } = agentOf([bad.url]);
  const put = (body: string | Buffer | ReturnType<typeof Blob.prototype.stream>) =>
    request(ORIGIN, { dispatcher: agent, method: "PUT", body: body as string, idempotent: true });
  for (const body of ["text", Buffer.from("text")]) {
    const response = await put(body);
    expect(response.statusCode).toBe(200);
    await response.body.dump();
  }
  expect(bodies).toEqual(["text", "text", "text", "text"]);
  const response = await put(new Blob(["stream"]).stream());
  expect([response.statusCode, bodies[4], service.stats().attempts]).toEqual([503, "stream", 5]);
  await response.body.dump();
});

test("backpressure reaches the winner: a body that nobody reads does not pile up, and arrives whole", async () => {
  const sizeBytes = 64 * 1024 * 1024;
  const piece = Buffer.alloc(64 * 1024, "z");
  let sentBytes = 0;
  let stalled = 0;
  const b = await backend(async (_, response) => {
    while (sentBytes < sizeBytes) {
      sentBytes += piece.length;
      if (response.write(piece)) continue;
      stalled++;
      await new Promise((resolve) => response.once("drain", resolve));
    }
    response.end();
  });
  const { agent, service } = agentOf([b.url]);
  const { body } = await request(ORIGIN, { dispatcher: agent });
  await until(() => stalled > 0);
  for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
  expect(sentBytes).toBeLessThan(sizeBytes / 2);
  expect(outstanding(service)).toBe(1);
  let readBytes = 0;
  for await (const chunk of body) readBytes += chunk.length;
  expect(readBytes).toBe(sizeBytes);
  await until(() => outstanding(service) === 0);
});

test("a caller's abort ends every copy, before the answer and in its body", async () => {
  const { waiting, servers, urls } = await pair((_, response) => void waiting.push(response));
  const { agent, service, time } = agentOf(urls, { hedge: { afterMs: DELAY_MS } });
  const abort = new AbortController();
  const answer = request(ORIGIN, { dispatcher: agent, signal: abort.signal });
  await until(() => waiting.length === 1);
  await time.advance(DELAY_MS);
  await until(() => waiting.length === 2);
  const reason = new Error("enough");
  abort.abort(reason);
  await expect(answer).rejects.toBe(reason);
  await until(() => servers.every((s) => s.open.size === 0));
  expect([outstanding(service), service.stats().aborted]).toEqual([0, 1]);
  const big = await backend((_, response) => response.end(BIG));
  const late = agentOf([big.url]);
  const { body } = await request(ORIGIN, { dispatcher: late.agent });
  body.on("error", () => {});
  body.destroy();
  await until(() => big.open.size === 0 && outstanding(late.service) === 0);
});

test("the deadline ends a call that nobody answers, and one whose body is not done", async () => {
  const { waiting, urls } = await pair(() => {});
  const { agent, time } = agentOf(urls, { deadlineMs: 500 });
  const answer = request(ORIGIN, { dispatcher: agent });
  const outcome = expect(answer).rejects.toMatchObject({ code: "ERR_BOBTAIL_DEADLINE" });
  await until(() => waiting.length === 1);
  await time.advance(500);
  await outcome;
  const b = await backend((_, response) => response.write("some"));
  const other = agentOf([b.url], { deadlineMs: 500 });
  const { body } = await request(ORIGIN, { dispatcher: other.agent });
  const reading = expect(body.text()).rejects.toMatchObject({ code: "ERR_BOBTAIL_DEADLINE" });
  await other.time.advance(500);
  await reading;
  await until(() => b.open.size === 0);
});

test("an event stream is hedged until its first byte, which is delivered", async () => {
  const events = { "content-type": "text/event-stream" };
  const handler: Handler = (request, response) => {
    response.writeHead(200, events).flushHeaders();
    if (!isFirst(request)) response.end("data: 1\n\n");
  };
  const servers = [await backend(handler), await backend(handler)];
  const urls = servers.map((s) => s.url);
  let headersRead = 0;
  const listener = () => headersRead++;
  subscribe("undici:request:headers", listener);
  later(() => unsubscribe("undici:request:headers", listener));
  const { agent, service, time } = agentOf(urls, { hedge: { afterMs: DELAY_MS } });
  const answer = request(ORIGIN, { dispatcher: agent });
  await until(() => headersRead === 1);
  await time.advance(DELAY_MS);
  expect(await (await answer).body.text()).toBe("data: 1\n\n");
  await until(() => outstanding(service) === 0);
  // The loser is read on for a while, since its headers had come; then it is cut off.
  expect([servers.map((s) => s.open.size), time.pendingCount]).toEqual([[1, 1], 1]);
  await time.advance(51);
  await until(() => servers.reduce((sum, s) => sum + s.open.size, 0) === 1);
  expect([service.stats().hedgesWon, time.pendingCount]).toEqual([1, 0]);
});

test("32: an upgrade is placed on an endpoint, once, and its socket is the caller's", async () => {
  const b = await backend(() => {});
  b.server.on("upgrade", (_, socket) => {
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n",
    );
    socket.pipe(socket);
    later(() => socket.destroy());
  });
  const { agent, service } = agentOf([b.url], { hedge: { afterMs: 1 } });
  const { socket } = await agent.upgrade({ path: "/", origin: ORIGIN, protocol: "echo" } as never);
  socket.write("hello");
  const chunk = await new Promise((resolve) => socket.once("data", resolve));
  expect(String(chunk)).toBe("hello");
  socket.destroy();
  expect([service.stats().attempts, outstanding(service)]).toEqual([1, 0]);
});

test("it composes with undici's own interceptors on either side", async () => {
  const b = await backend((_, response, n) => response.writeHead(n === 1 ? 502 : 200).end("ok"));
  const { agent, service } = agentOf([b.url], {}, interceptors.dump(), interceptors.redirect());
  const { statusCode } = await request(ORIGIN, { dispatcher: agent });
  expect([statusCode, service.stats().retries]).toEqual([200, 1]);
});

test("a request that undici refuses is refused once, and not blamed on an endpoint", async () => {
  const b = await backend((_, response) => response.end());
  const { agent, service } = agentOf([b.url], { retry: { max: 3 } });
  const headers = { "transfer-encoding": "chunked" };
  await expect(request(ORIGIN, { dispatcher: agent, headers })).rejects.toMatchObject({
    code: "UND_ERR_INVALID_ARG",
  });
  expect([service.stats().attempts, service.stats().endpoints[0]?.failures]).toEqual([1, 0]);
});

test("setEndpoints moves the service, and bad options are refused by name", async () => {
  const a = await backend((_, response) => response.end("a"));
  const b = await backend((_, response) => response.end("b"));
  const { agent, service } = agentOf([a.url]);
  expect(await (await request(ORIGIN, { dispatcher: agent })).body.text()).toBe("a");
  service.setEndpoints([b.url]);
  expect(await (await request(ORIGIN, { dispatcher: agent })).body.text()).toBe("b");
  const bad = (options: object) => () =>
    bobtailInterceptor({ origin: ORIGIN, endpoints: [a.url], ...options } as InterceptorOptions);
  const mistakes: [option: string, options: object][] = [
    ["origin", { origin: "search" }],
    ["origin", { origin: "data:text" }],
    ["origin", { origin: `${ORIGIN}/path` }],
    ["commit", { commit: "soon" }],
    ["endpoints[0].url", { endpoints: ["nowhere"] }],
    ["hegde", { hegde: { afterMs: 12 } }],
    ["hedge.after", { hedge: { after: 12 } }],
    ["name", { name: "" }],
    ["key", { key: "one" }],
  ];
  for (const [option, options] of mistakes) {
    const details = expect.objectContaining({ option });
    const error = expect.objectContaining({ code: "ERR_BOBTAIL_OPTION", details });
    expect(bad(options)).toThrow(error);
  }
});
