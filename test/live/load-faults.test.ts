// What servers do wrong, on real sockets: every request ends in one place of the ledger, and the run ends.

import { createServer } from "node:http";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { startLoad } from "../../packages/cli/src/load/load.ts";
import type { LoadOptions } from "../../packages/cli/src/load/load-options.ts";
import type { LoadReport } from "../../packages/cli/src/load/load-report.ts";
import { expectToAddUp, listen, onEachRequest, serve, serveRaw } from "./load.testbed.ts";

async function load(url: string, options: Partial<LoadOptions> = {}): Promise<LoadReport> {
  const report = await startLoad({
    url,
    ratePerSec: 100,
    durationMs: 400,
    ...options,
  }).report;
  expectToAddUp(report);
  return report;
}

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

test.each<[string, (socket: Socket) => void, string | RegExp]>([
  ["closes before it answers", (s) => s.end(), "closed without an answer"],
  ["resets", (s) => s.resetAndDestroy(), "ECONNRESET"],
  ["cuts its head short", (s) => s.end("HTTP/1.1 200 O"), "cut short"],
  [
    "cuts its body short",
    (s) => s.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"),
    "cut short",
  ],
  [
    "cuts its last chunk short",
    (s) => s.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"),
    "cut short",
  ],
  ["speaks another protocol", (s) => s.write("220 smtp ready\r\n"), "no HTTP/1 status line"],
  ["answers with noise", (s) => s.write(Buffer.alloc(2_000, 0xff)), "no HTTP/1 status line"],
  [
    "never ends its head",
    (s) => s.write(`HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(12_000)}`),
    "a head of over 64 KiB",
  ],
  [
    "answers with two lengths",
    (s) => s.write("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"),
    "two content lengths",
  ],
])("a server that %s is a transport error of that kind", async (_, misbehave, kind) => {
  const url = await serveRaw((socket) => onEachRequest(socket, () => misbehave(socket)));
  const { measured } = await load(url);
  expect(measured.ledger.transportErrors).toBe(40);
  expect([...measured.failures]).toEqual([[kind, 40]]);
});

test.each<[string, (socket: Socket) => void]>([
  ["never answers", () => {}],
  ["stops after its head", (s) => s.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n")],
  ["stops in its body", (s) => s.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab")],
  ["only ever sends interim answers", (s) => s.write("HTTP/1.1 103 Early Hints\r\n\r\n")],
])("a server that %s is waited for until the timeout, and let go", async (_, misbehave) => {
  let open = 0;
  const url = await serveRaw((socket) => {
    open++;
    socket.once("close", () => open--);
    onEachRequest(socket, () => misbehave(socket));
  });
  const { measured, drainMs } = await load(url, { timeoutMs: 800 });
  expect(measured.ledger.timeouts).toBe(40);
  expect(measured.all.min).toBeGreaterThanOrEqual(790_000);
  expect(drainMs).toBeGreaterThan(0);
  await expect.poll(() => open).toBe(0);
});

test("a body that comes one byte at a time is over with its last byte", async () => {
  const url = await serveRaw((socket) =>
    onEachRequest(socket, () => {
      const bytes = [..."HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc"];
      const next = (): void => {
        const byte = bytes.shift();
        if (byte === undefined) return;
        socket.write(byte, () => setImmediate(next));
      };
      next();
    }),
  );
  const { measured } = await load(url);
  expect(measured.ledger.ok).toBe(40);
});

test("an answer without a length ends with its connection, and the next request opens another", async () => {
  const url = await serveRaw((socket) =>
    onEachRequest(socket, () => socket.end("HTTP/1.1 200 OK\r\n\r\nall of it")),
  );
  const { measured } = await load(url);
  expect([measured.ledger.ok, measured.connect.count]).toEqual([40, 40]);
});

test("bytes that nobody asked for cost the connection, not the answer before them", async () => {
  const url = await serveRaw((socket) =>
    onEachRequest(socket, () => socket.write(`${OK}HTTP/1.1`)),
  );
  const { measured } = await load(url);
  expect([measured.ledger.ok, measured.connect.count]).toEqual([40, 40]);
});

test("connections are used again, and those that the server closes in between are replaced", async () => {
  let connections = 0;
  const url = await serveRaw((socket) => {
    connections++;
    onEachRequest(socket, (turn) => {
      socket.write(OK);
      // The fourth answer is the last, a moment later: the client has taken the connection for idle.
      if (turn === 3) setTimeout(() => socket.end(), 1);
    });
  });
  const { measured } = await load(url, { arrivals: "uniform", ratePerSec: 50, durationMs: 800 });
  expect(measured.ledger.ok).toBe(40);
  // Ten, and more where requests that were late together each had one.
  expect(connections).toBeGreaterThanOrEqual(10);
  expect(connections).toBeLessThan(20);
});

test("a server that says how long it keeps a connection is not sent a request in its last second", async () => {
  let connections = 0;
  const url = await serveRaw((socket) => {
    connections++;
    onEachRequest(socket, () =>
      socket.write("HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 0\r\n\r\n"),
    );
  });
  const { measured } = await load(url, { arrivals: "uniform", ratePerSec: 25 });
  expect(measured.ledger.ok).toBe(10);
  // One that was free when another request was already waiting may have taken it at once.
  expect(connections).toBeGreaterThan(6);
});

test("a server that goes away in the middle leaves answers before and refusals after", async () => {
  let seen = 0;
  const server = createServer((_, res) => {
    res.end("ok");
    if (++seen < 20) return;
    server.close();
    server.closeAllConnections();
  });
  const port = await listen(server);
  const { measured } = await load(`http://127.0.0.1:${port}/`);
  const { ok, transportErrors } = measured.ledger;
  expect(ok).toBeGreaterThanOrEqual(19);
  expect(transportErrors).toBe(40 - ok);
  expect(measured.failures.get("ECONNREFUSED")).toBeGreaterThan(10);
});

test("a request body is sent whole with its headers, and an answer before its end does not hang", async () => {
  const bodies = new Map<string, number>();
  const url = await serve((req, res) => {
    const label = `${req.method} ${req.url} ${req.headers["x-who"]} ${req.headers["content-length"]}`;
    let length = 0;
    req.on("data", (bytes: Buffer) => {
      length += bytes.length;
    });
    req.on("end", () => {
      if (String(length) === req.headers["content-length"])
        bodies.set(label, (bodies.get(label) ?? 0) + 1);
      res.end("ok");
    });
    if (req.url === "/early") res.writeHead(413).end("too much");
  });
  const body = new Uint8Array(300_000).fill(120);
  const targets = [
    { url: `${url}a`, body, headers: { "X-Who": "me" } },
    { url: `${url}b`, method: "PUT" },
    { url: `${url}early`, body },
  ];
  const report = await startLoad({ targets, ratePerSec: 60, durationMs: 500, timeoutMs: 5_000 })
    .report;
  expectToAddUp(report);
  const { ok, httpErrors, timeouts, transportErrors } = report.measured.ledger;
  expect([...bodies.keys()]).toEqual(
    expect.arrayContaining(["POST /a me 300000", "PUT /b undefined 0"]),
  );
  expect(ok + httpErrors + transportErrors).toBe(30);
  expect([timeouts, httpErrors > 0]).toEqual([0, true]);
});

test("HEAD has no body whatever its answer announces, and the connection is used again", async () => {
  const url = await serveRaw((socket) =>
    onEachRequest(socket, () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n")),
  );
  const report = await startLoad({
    targets: [{ url, method: "HEAD" }],
    ratePerSec: 50,
    durationMs: 400,
    connections: 1,
  }).report;
  expectToAddUp(report);
  expect([report.measured.ledger.ok, report.measured.connect.count]).toEqual([20, 1]);
});

test("stopped at any moment, the ledger adds up and nothing stays open", async () => {
  let open = 0;
  const url = await serve((_, res) => {
    open++;
    res.once("close", () => open--);
    setTimeout(() => res.end("ok"), 30);
  });
  for (const afterMs of [0, 20, 90, 150, 400, 650]) {
    const stop = new AbortController();
    const run = startLoad({
      url,
      ratePerSec: 300,
      durationMs: 500,
      warmupMs: 100,
      signal: stop.signal,
    });
    setTimeout(() => stop.abort(), afterMs);
    const report = await run.report;
    expectToAddUp(report);
    expect(report.measured.ledger.planned).toBe(150);
  }
  await expect.poll(() => open).toBe(0);
});
