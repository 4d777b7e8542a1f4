import { afterEach, expect, test } from "vitest";
import { gate, Testbed, until } from "./proxy-testbed.ts";

const bed = new Testbed();
afterEach(() => bed.close());

const reasonOf = (body: Buffer) => JSON.parse(body.toString());

test("a body that stalls is given up after its idle timeout, while a slow one that moves is not", async () => {
  const backend = await bed.backend((request, response) => {
    response.write("begin");
    if (request.url !== "/moves") return;
    let left = 8;
    const timer = setInterval(() => {
      response.write(".");
      if (--left > 0) return;
      clearInterval(timer);
      response.end();
    }, 20);
  });
  const proxy = await bed.service([backend.url], { timeout: { bodyIdleMs: 100 } });
  expect((await proxy.get("/moves")).body.toString()).toBe("begin........");
  await expect(proxy.get("/stalls")).rejects.toThrow();
  await proxy.idle();
});

test("the deadline ends an answer that never comes with 504, and one that never ends by breaking it off", async () => {
  const backend = await bed.backend((request, response) => {
    if (request.url === "/never") return;
    response.write("begin");
    const timer = setInterval(() => response.write("."), 10);
    response.on("close", () => clearInterval(timer));
  });
  const proxy = await bed.service([backend.url], { deadlineMs: 80 });
  const answer = await proxy.get("/never");
  expect([answer.status, reasonOf(answer.body).reason]).toEqual([504, "deadline"]);
  await expect(proxy.get("/endless")).rejects.toThrow();
  await until(() => backend.cancelled === 2);
  expect(proxy.stats.deadline_exceeded).toBe(2);
  await proxy.idle();
});

test("a deadline that has passed on arrival is answered 504 and nothing is sent", async () => {
  const backend = await bed.backend((_q, r) => r.end());
  const proxy = await bed.service([backend.url]);
  expect((await proxy.get("/", { "bobtail-deadline-ms": "0" })).status).toBe(504);
  expect(backend.requests).toHaveLength(0);
});

test("an attempt that times out everywhere is answered 504", async () => {
  const backend = await bed.backend(() => {});
  const proxy = await bed.service([backend.url], {
    timeout: { attemptMs: 30 },
    retry: { max: 0 },
  });
  const answer = await proxy.get("/");
  expect([answer.status, reasonOf(answer.body).reason]).toEqual([504, "attempt_timeout"]);
  await until(() => backend.cancelled === 1);
});

test("a full service queues calls up to its limit and refuses the rest with 503 and Retry-After", async () => {
  const go = gate();
  const backend = await bed.backend((_q, r) => void go.opened.then(() => r.end("served")));
  const proxy = await bed.service([backend.url], { limit: { perEndpoint: 1, pending: 1 } });
  const first = proxy.get("/1");
  await until(() => backend.requests.length === 1);
  const second = proxy.get("/2");
  await until(() => proxy.stats.pending === 1);
  const third = await proxy.get("/3");
  expect([third.status, third.headers["retry-after"], reasonOf(third.body).reason]).toEqual([
    503,
    "1",
    "busy",
  ]);
  go.open();
  expect((await first).body.toString()).toBe("served");
  expect((await second).body.toString()).toBe("served");
  await proxy.idle();
});

test("a service without endpoints answers 503", async () => {
  const proxy = await bed.service([]);
  const answer = await proxy.get("/");
  expect([answer.status, reasonOf(answer.body).reason]).toEqual([503, "no_endpoint"]);
});
