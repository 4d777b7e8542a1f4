import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { type Backend, later, outstanding, until } from "./fetch-backend.ts";
import { DELAY_MS, hedged, hedging, pair, stuck } from "./fetch-hedge.testbed.ts";

test("losers that wait in a server's queue never start", async () => {
  // One worker that is busy: it begins what is still there when its turn comes.
  const queue: ServerResponse[] = [];
  const servers = await pair(
    (_, response) => void queue.push(response),
    (_, response) => response.end("quick"),
  );
  const { time, c } = hedging(servers.map((s) => s.url));
  for (let i = 1; i <= 20; i++) {
    const response = await hedged(c.fetch("/"), time, () => queue.length === i);
    expect(await response.text()).toBe("quick");
  }
  await until(() => queue.every((response) => response.destroyed));
  await until(() => outstanding(c) === 0);
  expect([c.stats().hedgesWon, time.pendingCount]).toEqual([20, 0]);
});

/** A loser of which the headers are here, and its call, which another copy has won. */
async function halfAnswered() {
  const { waiting, handler } = stuck();
  const servers = await pair(
    (request, response, n) => {
      // An event stream counts as begun at its first byte, so these headers do not win.
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      handler(request, response, n);
    },
    (_, response) => response.end("other"),
  );
  let headersRead = 0;
  const listener = () => headersRead++;
  subscribe("undici:request:headers", listener);
  later(() => unsubscribe("undici:request:headers", listener));
  const { time, c } = hedging(servers.map((s) => s.url));
  const answer = c.fetch("/");
  await until(() => waiting.length === 1);
  const server = servers.find((s) => s.requests.length === 1) as Backend;
  await until(() => headersRead === 1);
  const response = await hedged(answer, time, () => true);
  expect(await response.text()).toBe("other");
  expect([c.stats().hedgesWon, outstanding(c)]).toEqual([1, 0]);
  return { time, server, loser: waiting[0] as ServerResponse };
}

test("a loser whose headers have arrived is drained if it is short, and its connection kept", async () => {
  const { time, server, loser } = await halfAnswered();
  loser.end("data: short\n\n");
  await until(() => loser.writableFinished);
  // The wake that would have cut it off is gone once its end has been read.
  await until(() => time.pendingCount === 0);
  await time.advance(1000);
  expect([server.opened, server.open.size]).toEqual([1, 1]);
});

test("a loser that sends more than 16 KiB is cut off", async () => {
  const { time, server, loser } = await halfAnswered();
  loser.end("long".repeat(100_000));
  await until(() => server.open.size === 0);
  expect(time.pendingCount).toBe(0);
});

test("a loser that goes quiet is cut off after a while", async () => {
  const { time, server } = await halfAnswered();
  expect([server.open.size, time.pendingCount]).toEqual([1, 1]);
  await time.advance(51);
  await until(() => server.open.size === 0);
  expect(time.pendingCount).toBe(0);
});

test("27: attempts that answer at one moment end once each, and one answer is delivered whole", async () => {
  const { waiting, handler } = stuck();
  const servers = await pair(handler, handler);
  const { time, c } = hedging(servers.map((s) => s.url));
  for (let i = 0; i < 10; i++) {
    const answer = c.fetch("/");
    await time.advance(DELAY_MS);
    await until(() => waiting.length === 2);
    for (const [n, response] of waiting.splice(0).entries()) response.end(`${n}`.repeat(1000));
    expect(["0".repeat(1000), "1".repeat(1000)]).toContain(await (await answer).text());
  }
  await until(() => outstanding(c) === 0);
  const { attempts, calls, hedges, endpoints } = c.stats();
  expect([attempts, calls, hedges]).toEqual([20, 10, 10]);
  expect(endpoints.map((e) => e.failures)).toEqual([0, 0]);
});

test("a cancelled copy rejects nothing that nobody handles", async () => {
  const { waiting, handler } = stuck();
  const servers = await pair(handler, (_, response) => response.end("b"));
  const { time, c } = hedging(servers.map((s) => s.url));
  const rejections: unknown[] = [];
  const listener = (reason: unknown) => rejections.push(reason);
  process.on("unhandledRejection", listener);
  later(() => process.off("unhandledRejection", listener));
  for (let i = 1; i <= 10; i++) {
    const init = { method: "PUT", body: new Blob(["x"]), idempotent: true };
    await (await hedged(c.fetch("/", init), time, () => waiting.length === i)).text();
  }
  await until(() => waiting.every((response) => response.destroyed));
  expect(rejections).toEqual([]);
});
