import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { ProxyConfig } from "../../packages/cli/src/proxy/config.ts";
import { ask, gate, type Handler, Testbed, until } from "./proxy-testbed.ts";

const bed = new Testbed();
afterEach(() => bed.close());

test("the admin address tells health, readiness, metrics and statistics, reads only, and passes nothing on", async () => {
  const backend = await bed.backend((_q, r) => r.end("ok"));
  const proxy = await bed.service([backend.url], { hedge: { afterMs: 500 } });
  await proxy.get("/");
  const admin = proxy.running.adminAddress?.port ?? 0;
  const statuses = await Promise.all(
    ["/healthz", "/readyz", "/metrics", "/stats?x=1", "/other", "/http://127.0.0.1/"].map(
      async (path) => (await ask(admin, { path })).status,
    ),
  );
  expect(statuses).toEqual([200, 200, 200, 200, 404, 404]);
  expect((await ask(admin, { path: "/stats", method: "POST", body: "{}" })).status).toBe(405);
  expect((await ask(admin, { path: "/metrics", method: "HEAD" })).body.length).toBe(0);
  const stats = JSON.parse((await ask(admin, { path: "/stats" })).body.toString());
  expect(stats).toEqual({ ...proxy.running.stats(), uptime_ms: expect.any(Number) });
  expect(backend.requests).toHaveLength(1);
});

test("metrics carry the documented names, each family announced once, no series twice", async () => {
  // Whoever gets the first attempt at the first path never answers it.
  const handler: Handler = (request, response) => {
    const isFirst = request.headers["bobtail-attempt"] === undefined;
    if (!isFirst || request.url?.includes("path-0") !== true) response.end("ok");
  };
  const backend = await bed.backend(handler);
  const other = await bed.backend(handler);
  const proxy = await bed.service([backend.url, other.url], {
    hedge: { afterMs: 5 },
    budget: { extraRatio: 1 },
    retry: { max: 0 },
  });
  for (let i = 0; i < 4; i++) await proxy.get(`/secret-path-${i}?token=x`);
  await proxy.idle();
  const text = await proxy.metrics();
  for (const name of [
    "bobtail_call_duration_seconds",
    "bobtail_attempt_duration_seconds",
    "bobtail_hedges_total",
    "bobtail_hedges_suppressed_total",
    "bobtail_hedge_delay_seconds",
    "bobtail_wasted_attempt_seconds_total",
    "bobtail_budget_tokens",
    "bobtail_budget_capacity",
    "bobtail_budget_denied_total",
    "bobtail_backend_inflight",
    "bobtail_backend_weight",
    "bobtail_backend_latency_ewma_seconds",
    "bobtail_picks_total",
    "bobtail_balance_skew_ratio",
    "bobtail_deadline_exceeded_total",
    "bobtail_config_reloads_total",
    "bobtail_config_last_reload_success_timestamp_seconds",
  ])
    expect(text.split(`# TYPE ${name} `)).toHaveLength(2);
  expect(text).toContain('bobtail_call_duration_seconds_count{route="s",outcome="ok"} 4\n');
  // A slow machine may hedge the other three too.
  expect(text).toMatch(/bobtail_hedges_total\{route="s",result="won"\} [1-4]\n/);
  expect(text).toMatch(/kind="primary",result="lost",le="\+Inf"\} [1-4]\n/);
  expect(text).not.toContain("secret-path");
  const series = text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.slice(0, line.lastIndexOf(" ")));
  expect(new Set(series).size).toBe(series.length);
});

test("the access log tells attempts, endpoints and why, and neither queries nor headers", async () => {
  const lines: string[] = [];
  let count = 0;
  const backend = await bed.backend((_q, r) => {
    if (++count === 1) r.destroy();
    else r.end("four");
  });
  const other = await bed.backend((_q, r) => {
    if (++count === 1) r.destroy();
    else r.end("four");
  });
  const accessLog = (line: string) => lines.push(line);
  const proxy = await bed.service(
    [backend.url, other.url],
    { budget: { extraRatio: 1 } },
    { accessLog },
  );
  await proxy.get("/a?password=x", { authorization: "Bearer secret" });
  await ask(proxy.port, { path: "*", method: "OPTIONS" });
  await until(() => lines.length === 2);
  const [line = "", refused = ""] = lines;
  expect(JSON.parse(line)).toMatchObject({
    method: "GET",
    path: "/a",
    service: "s",
    status: 200,
    bytes: 4,
    attempts: [
      { kind: "primary", outcome: "failed", cause: expect.any(String) },
      { kind: "retry", outcome: "win" },
    ],
  });
  expect(JSON.parse(refused)).toMatchObject({ status: 400, reason: "request_target" });
  expect(lines.join()).not.toMatch(/password|secret/);
});

const configOf = (
  endpoints: readonly string[],
  options: ProxyConfig["services"][string]["options"] = {},
): ProxyConfig => ({
  listeners: [{ host: "127.0.0.1", port: 0, service: "s" }],
  services: { s: { endpoints: endpoints.map((url) => ({ url })), options } },
});

test("a reload takes effect at once, endpoints that stay keep what was learnt, and requests under way end as they began", async () => {
  const go = gate();
  const a = await bed.backend((q, r) => {
    if (q.url === "/slow") void go.opened.then(() => r.end("slow a"));
    else r.end("a");
  });
  const b = await bed.backend((_q, r) => r.end("b"));
  const proxy = await bed.proxy(configOf([a.url]));
  await proxy.get("/");
  const slow = proxy.get("/slow");
  await until(() => a.requests.length === 2);

  await proxy.running.reload(configOf([a.url, b.url]));
  const [kept, added] = proxy.stats.endpoints;
  expect([kept?.picks, kept?.outstanding, added?.picks]).toEqual([2, 1, 0]);
  // New options make a new policy, on the same endpoints.
  await proxy.running.reload(configOf([a.url, b.url], { hedge: { afterMs: 400 } }));
  expect(proxy.stats.endpoints.map((e) => [e.picks, e.outstanding])).toEqual([
    [2, 1],
    [0, 0],
  ]);
  // The endpoint that serves the slow request goes; the request does not.
  await proxy.running.reload(configOf([b.url]));
  expect((await proxy.get("/")).body.toString()).toBe("b");
  go.open();
  expect((await slow).body.toString()).toBe("slow a");
  expect(proxy.stats.calls).toBe(3);
  expect(proxy.running.stats().reloads).toEqual({ ok: 3, failed: 0 });
  await proxy.idle();
});

test("a reload that cannot be carried out leaves the old configuration in force", async () => {
  const a = await bed.backend((_q, r) => r.end("a"));
  const proxy = await bed.proxy(configOf([a.url]));
  const taken = { host: "127.0.0.1", port: a.port, service: "s" };
  const config = configOf([a.url]);
  await expect(
    proxy.running.reload({ ...config, listeners: [...config.listeners, taken] }),
  ).rejects.toThrow(/EADDRINUSE/);
  await expect(proxy.running.reload(configOf([a.url], { deadlineMs: -1 }))).rejects.toThrow(
    /deadlineMs/,
  );
  await expect(proxy.running.reload({ ...config, trust: ["10.0.0.0/99"] })).rejects.toThrow(
    /trust/,
  );
  const nowhere = { host: "127.0.0.1", port: 0, service: [{ service: "other" }] };
  await expect(proxy.running.reload({ ...config, listeners: [nowhere] })).rejects.toThrow(/other/);
  for (const bad of ["ftp://a", "http://u:p@a", "http://a/path", "a:80", ""])
    await expect(proxy.running.reload(configOf([bad]))).rejects.toThrow(/endpoint/);
  await expect(proxy.running.reload(configOf([a.url, a.url]))).rejects.toThrow(/no other/);
  expect((await proxy.get("/")).body.toString()).toBe("a");
  expect(proxy.running.addresses).toHaveLength(1);
  expect(proxy.running.stats().reloads).toEqual({ ok: 0, failed: 10 });
});

test("a listener that a reload adds answers, one that it removes closes when its last request has ended", async () => {
  const go = gate();
  const a = await bed.backend((_q, r) => void go.opened.then(() => r.end("a")));
  const proxy = await bed.proxy(configOf([a.url]));
  const old = proxy.port;
  const under = ask(old, {});
  await until(() => a.requests.length === 1);
  const free = new URL(await bed.deadUrl());
  await proxy.running.reload({
    ...configOf([a.url]),
    listeners: [{ host: "127.0.0.1", port: Number(free.port), service: "s" }],
  });
  await expect(ask(old, {})).rejects.toThrow();
  go.open();
  expect((await under).body.toString()).toBe("a");
  expect((await proxy.get("/")).body.toString()).toBe("a");
});

test("reloads asked for at once are carried out in their order, and none after the end", async () => {
  const [a, b] = [
    await bed.backend((_q, r) => r.end("a")),
    await bed.backend((_q, r) => r.end("b")),
  ];
  const proxy = await bed.proxy(configOf([a.url]));
  const moved = {
    host: "127.0.0.1",
    port: Number(new URL(await bed.deadUrl()).port),
    service: "s",
  };
  await Promise.all([
    proxy.running.reload({ ...configOf([a.url]), listeners: [moved] }),
    proxy.running.reload({ ...configOf([b.url]), listeners: [moved] }),
  ]);
  expect((await proxy.get("/")).body.toString()).toBe("b");
  await proxy.running.close();
  await expect(proxy.running.reload(configOf([a.url]))).rejects.toThrow(/closing/);
});

test("a kept connection to a listener that was removed is closed after its next answer", async () => {
  const backend = await bed.backend((_q, r) => r.end("ok"));
  const proxy = await bed.proxy(configOf([backend.url]));
  const socket = connect(proxy.port, "127.0.0.1");
  let heard = "";
  let isClosed = false;
  socket.on("data", (data) => {
    heard += data;
  });
  socket.on("close", () => {
    isClosed = true;
  });
  // Half a request, so that the connection is not idle when its listener goes.
  socket.write("GET / HTTP/1.1\r\n");
  await until(() => proxy.running.stats().connections === 1);
  await proxy.running.reload({
    ...configOf([backend.url]),
    listeners: [{ host: "127.0.0.2", port: 0, service: "s" }],
  });
  socket.write("host: a\r\n\r\n");
  await until(() => isClosed);
  if (heard !== "") expect(heard).toMatch(/connection: close/i);
});

test("routes and endpoints that a reload removes leave the metrics, counts stay", async () => {
  const [a, b] = [await bed.backend((_q, r) => r.end()), await bed.backend((_q, r) => r.end())];
  const proxy = await bed.service([a.url, b.url]);
  for (let i = 0; i < 4; i++) await proxy.get("/");
  await proxy.running.reload({
    listeners: [{ host: "127.0.0.1", port: 0, service: [{ name: "new", service: "s" }] }],
    services: { s: { endpoints: [{ url: b.url }], options: { deadlineMs: 999 } } },
  });
  await proxy.get("/");
  const text = await proxy.metrics();
  expect(text).not.toContain(a.url);
  expect(text).not.toContain('route="s"');
  expect(text).toContain('bobtail_call_duration_seconds_count{route="new",outcome="ok"} 1\n');
  expect([proxy.stats.calls, proxy.stats.succeeded]).toEqual([5, 5]);
});

test("a drain refuses new connections, says so on /readyz, closes kept ones, and waits for what runs", async () => {
  const go = gate();
  const backend = await bed.backend((_q, r) => void go.opened.then(() => r.end("done")));
  const proxy = await bed.service([backend.url]);
  const admin = proxy.running.adminAddress?.port ?? 0;
  const running = proxy.get("/", { connection: "keep-alive" });
  await until(() => backend.requests.length === 1);
  const drained = proxy.running.drain(30_000);
  await until(() => proxy.running.stats().draining);
  expect((await ask(admin, { path: "/readyz" })).status).toBe(503);
  expect((await ask(admin, { path: "/healthz" })).status).toBe(200);
  await expect(proxy.get("/")).rejects.toThrow();
  go.open();
  const answer = await running;
  expect([answer.body.toString(), answer.headers.connection]).toEqual(["done", "close"]);
  await drained;
  await expect(ask(admin, { path: "/healthz" })).rejects.toThrow();
});

test("a drain whose grace is over ends what still runs, tunnels included", async () => {
  const backend = await bed.backend(() => {});
  backend.server.on("upgrade", (_request, socket) => {
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
  });
  const proxy = await bed.service([backend.url]);
  const stuck = proxy.get("/");
  stuck.catch(() => {});
  const tunnel = connect(proxy.port, "127.0.0.1");
  tunnel.on("error", () => {});
  tunnel.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
  await until(() => proxy.stats.endpoints[0]?.outstanding === 2);
  await proxy.running.drain(20);
  await expect(stuck).rejects.toThrow();
  await until(() => proxy.outstanding().every((count) => count === 0));
});

test("an address that is taken, an option out of range and a range of trust that is none are refused at start", async () => {
  const a = await bed.backend((_q, r) => r.end());
  const config = configOf([a.url]);
  const taken = { host: "127.0.0.1", port: a.port };
  await expect(bed.proxy({ ...config, admin: taken })).rejects.toThrow(/EADDRINUSE/);
  await expect(bed.proxy(configOf([a.url], { limit: { pending: -1 } }))).rejects.toThrow(/pending/);
  await expect(bed.proxy({ ...config, trust: ["loopback"] })).rejects.toThrow(/trust/);
});
