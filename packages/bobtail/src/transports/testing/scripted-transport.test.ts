import { type ClientOptions, createClient, type HttpClient } from "bobtail";
import {
  type ScriptedReply,
  type ScriptedRequest,
  type ScriptedTransport,
  scriptedTransport,
  type VirtualTime,
  virtualTime,
} from "bobtail/testing";
import { expect, test } from "vitest";

function clientOf(
  script: (request: ScriptedRequest) => ScriptedReply,
  options: Partial<ClientOptions> = {},
): { time: VirtualTime; transport: ScriptedTransport; client: HttpClient } {
  const time = virtualTime();
  const transport = scriptedTransport(time, script);
  const endpoints = ["http://a:80", "http://b:80"];
  const hedge = { afterMs: 20 };
  const client = createClient({
    endpoints,
    transport,
    clock: time,
    timers: time,
    hedge,
    ...options,
  });
  return { time, transport, client };
}

test("a hedged fetch is tested without a socket and without waiting", async () => {
  const { time, transport, client } = clientOf(({ kind }) =>
    kind === "primary" ? { afterMs: 500, body: "slow" } : { afterMs: 5, body: "quick" },
  );
  const response = await time.run(client.fetch("/q?x=1", { headers: { accept: "text/plain" } }));
  expect([await response.text(), response.status, time.nowMs()]).toEqual(["quick", 200, 25]);
  expect(
    transport.requests.map((r) => [r.kind, r.method, r.path, r.cancelledAtMs, r.noHedge]),
  ).toEqual([
    ["primary", "GET", "/q?x=1", 25, true],
    ["hedge", "GET", "/q?x=1", undefined, true],
  ]);
  expect(transport.requests[0]?.headers.get("accept")).toBe("text/plain");
  expect(transport.requests[0]?.endpoint).not.toBe(transport.requests[1]?.endpoint);
});

test("a POST is not hedged unless it says that it may be", async () => {
  const slow = () => ({ afterMs: 100 });
  const { time, transport, client } = clientOf(slow);
  await time.run(client.fetch("/", { method: "POST", body: "x" }));
  expect(transport.requests.length).toBe(1);
  await time.run(client.fetch("/", { method: "POST", body: "x", idempotent: true }));
  expect(transport.requests.length).toBe(3);
  await time.run(client.fetch("/", { method: "POST", headers: { "idempotency-key": "k" } }));
  expect(transport.requests.length).toBe(5);
});

test("a 503 is tried elsewhere; when all say so the caller gets the last real answer", async () => {
  let healthy = true;
  const { time, client } = clientOf(({ number }) =>
    number > 1 && healthy ? { body: "ok" } : { status: 503, body: `busy ${number}` },
  );
  expect(await (await time.run(client.fetch("/"))).text()).toBe("ok");
  healthy = false;
  const last = await time.run(client.fetch("/"));
  expect([last.status, await last.text()]).toEqual([503, "busy 2"]);
});

test("a broken connection is tried elsewhere, and a caller's abort rejects with its reason", async () => {
  const { time, client } = clientOf(({ number }) =>
    number === 1 ? { error: new Error("reset") } : { afterMs: 50 },
  );
  expect((await time.run(client.fetch("/"))).status).toBe(200);
  const caller = new AbortController();
  const call = client
    .fetch(new Request("http://a:80/", { signal: caller.signal }))
    .catch((e: unknown) => e);
  await time.advance(10);
  caller.abort("left");
  expect(await call).toBe("left");
  await client.close();
});

test("a script's retry-after is obeyed, as a server's is", async () => {
  const { time, transport, client } = clientOf(() => ({
    status: 503,
    headers: { "retry-after": "2" },
  }));
  expect((await time.run(client.fetch("/"))).status).toBe(503);
  expect(transport.requests.map((r) => r.sentAtMs)).toEqual([0, 2000]);
});

test("a reply that cannot be made rejects the call with the mistake", async () => {
  const { time, client } = clientOf(() => ({ status: 99 }));
  await expect(time.run(client.fetch("/"))).rejects.toThrow(RangeError);
});

test("a URL of another origin is refused", async () => {
  const { client } = clientOf(() => ({}));
  await expect(client.fetch("http://elsewhere/")).rejects.toMatchObject({
    code: "ERR_BOBTAIL_FOREIGN_ORIGIN",
  });
});
