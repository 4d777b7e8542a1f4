import { createServer as createHttp2Server, createSecureServer } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import { expect, test } from "vitest";
import { startLoad } from "../../packages/cli/src/load/load.ts";
import { certificate, expectToAddUp, listen, serve } from "./load.testbed.ts";

const CERTIFICATE = certificate();
const whereThereIsOpenssl = test.skipIf(CERTIFICATE === undefined);
if (CERTIFICATE === undefined) console.log("skipped: TLS tests need openssl to make a certificate");
const { key = "", cert = "" } = CERTIFICATE ?? {};

whereThereIsOpenssl(
  "load 13: opening a connection is counted once and apart: in the response time and not in the service time",
  async () => {
    const secure = createHttpsServer({ key, cert }, (_, res) => res.end("ok"));
    // The name is said at once and the handshake begins a while later.
    const port = await listen(
      createTcpServer((socket) => setTimeout(() => secure.emit("connection", socket), 300)),
    );
    const report = await startLoad({
      url: `https://localhost:${port}/`,
      ratePerSec: 100,
      durationMs: 600,
      arrivals: "uniform",
      connections: 1,
      tls: { ca: cert },
    }).report;
    expectToAddUp(report);
    const { connect, service, all, queueing, ledger } = report.measured;
    expect([connect.count, ledger.ok]).toEqual([1, 60]);
    expect(connect.min).toBeGreaterThanOrEqual(300_000);
    expect(all.max).toBeGreaterThanOrEqual(300_000);
    expect(queueing.max).toBeGreaterThanOrEqual(300_000);
    expect(service.max).toBeLessThan(300_000);
  },
);

whereThereIsOpenssl(
  "a connection that does not open does not keep the place of one that would",
  async () => {
    const secure = createHttpsServer({ key, cert }, (_, res) => res.end("ok"));
    let connections = 0;
    const port = await listen(
      createTcpServer((socket) => {
        // The first is taken and forgotten.
        if (connections++ > 0) secure.emit("connection", socket);
      }),
    );
    const report = await startLoad({
      url: `https://localhost:${port}/`,
      ratePerSec: 50,
      durationMs: 1_000,
      timeoutMs: 400,
      connections: 1,
      tls: { ca: cert },
    }).report;
    expectToAddUp(report);
    expect(report.measured.ledger.timeouts).toBeGreaterThan(0);
    expect(report.measured.ledger.ok).toBeGreaterThan(5);
  },
);

whereThereIsOpenssl(
  "a certificate that nobody vouches for is a failure with its name",
  async () => {
    const port = await listen(createHttpsServer({ key, cert }, (_, res) => res.end("ok")));
    const options = { url: `https://localhost:${port}/`, ratePerSec: 50, durationMs: 200 };
    const strict = await startLoad(options).report;
    expectToAddUp(strict);
    expect([...strict.measured.failures]).toEqual([["DEPTH_ZERO_SELF_SIGNED_CERT", 10]]);
    const trusting = await startLoad({ ...options, tls: { insecure: true } }).report;
    expect(trusting.measured.ledger.ok).toBe(10);
  },
);

whereThereIsOpenssl("HTTP/2 over TLS is agreed on in the handshake", async () => {
  const versions = new Set<string>();
  const server = createSecureServer({ key, cert }, (req, res) => {
    versions.add(`${req.httpVersion} ${req.method} ${req.url} ${req.headers["x-a"]}`);
    res.end("ok");
  });
  const port = await listen(server);
  const report = await startLoad({
    targets: [{ url: `https://localhost:${port}/x`, headers: { "X-A": "1" } }],
    ratePerSec: 100,
    durationMs: 400,
    protocol: "http2",
    tls: { ca: cert },
  }).report;
  expectToAddUp(report);
  expect([report.measured.ledger.ok, report.measured.connect.count]).toEqual([40, 1]);
  expect([...versions]).toEqual(["2.0 GET /x 1"]);
});

test("HTTP/2 without TLS: many requests share a connection, and its limit is kept", async () => {
  let open = 0;
  let most = 0;
  const server = createHttp2Server({ settings: { maxConcurrentStreams: 5 } });
  server.on("stream", (stream) => {
    most = Math.max(most, ++open);
    setTimeout(() => {
      open--;
      stream.respond({ ":status": 200 });
      stream.end("ok");
    }, 100);
  });
  const port = await listen(server);
  const report = await startLoad({
    url: `http://127.0.0.1:${port}/`,
    ratePerSec: 100,
    durationMs: 500,
    connections: 1,
    protocol: "http2",
  }).report;
  expectToAddUp(report);
  expect([report.measured.ledger.ok, report.measured.connect.count, most]).toEqual([50, 1, 5]);
  expect(report.measured.queueing.max).toBeGreaterThan(100_000);
});

test("HTTP/2: errors, resets, silence and bodies each have their place in the ledger", async () => {
  const bodies: number[] = [];
  const server = createHttp2Server();
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    switch (headers[":path"]) {
      case "/fail":
        stream.respond({ ":status": 503 }, { endStream: true });
        break;
      case "/reset":
        stream.close(8);
        break;
      case "/cut":
        stream.respond({ ":status": 200 });
        stream.write("half", () => stream.destroy(new Error("cut")));
        break;
      case "/body": {
        let length = 0;
        stream.on("data", (bytes: Buffer) => {
          length += bytes.length;
        });
        stream.on("end", () => {
          bodies.push(length);
          stream.respond({ ":status": 201 }, { endStream: true });
        });
        break;
      }
    }
  });
  const base = `http://127.0.0.1:${await listen(server)}`;
  const run = async (path: string, body?: Uint8Array): Promise<unknown> => {
    const report = await startLoad({
      targets: [{ url: `${base}${path}`, body }],
      ratePerSec: 100,
      durationMs: 200,
      timeoutMs: 500,
      protocol: "http2",
    }).report;
    expectToAddUp(report);
    const { ok, httpErrors, transportErrors, timeouts } = report.measured.ledger;
    return [ok, httpErrors, transportErrors, timeouts];
  };
  expect(await run("/fail")).toEqual([0, 20, 0, 0]);
  expect(await run("/reset")).toEqual([0, 0, 20, 0]);
  expect(await run("/cut")).toEqual([0, 0, 20, 0]);
  expect(await run("/silence")).toEqual([0, 0, 0, 20]);
  expect(await run("/body", new Uint8Array(200_000))).toEqual([20, 0, 0, 0]);
  expect(bodies).toEqual(new Array(20).fill(200_000));
});

test("HTTP/2: a port where nobody listens is a ledger of refusals", async () => {
  const report = await startLoad({
    url: "http://127.0.0.1:1/",
    ratePerSec: 100,
    durationMs: 200,
    protocol: "http2",
  }).report;
  expectToAddUp(report);
  expect([...report.measured.failures]).toEqual([["ECONNREFUSED", 20]]);
});

test("an event stream has a time to its first event, gaps between them, and a whole", async () => {
  const url = await serve((_, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write(": hello\n\n");
    setTimeout(() => res.write("data: 1\n\n"), 100);
    setTimeout(() => res.write("data: 2\n\n"), 200);
    setTimeout(() => res.end("data: 3\n\ndata: 4\n\n"), 300);
  });
  const report = await startLoad({ url, ratePerSec: 50, durationMs: 400, sse: true }).report;
  expectToAddUp(report);
  const { firstByte, eventGap, service, ledger } = report.measured;
  expect([ledger.ok, firstByte.count, eventGap.count]).toEqual([20, 20, 60]);
  expect(firstByte.min).toBeGreaterThan(90_000);
  expect(service.min).toBeGreaterThan(firstByte.min);
  expect([eventGap.min, eventGap.max > 50_000]).toEqual([0, true]);
});
