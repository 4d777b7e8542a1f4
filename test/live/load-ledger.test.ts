import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startLoad } from "../../packages/cli/src/load/load.ts";
import { infiniteCount, type Ledger } from "../../packages/cli/src/load/load-report.ts";

let cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of cleanup) await close();
  cleanup = [];
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function expectToAddUp(l: Ledger): void {
  expect(l.planned).toBe(l.sent + l.dropped + l.unsent);
  expect(l.sent).toBe(l.ok + l.httpErrors + l.transportErrors + l.timeouts + l.openAtEnd);
}

test("the planned count is exact, the warm-up is reported apart, and every body is read to its end", async () => {
  let bytesServed = 0;
  const url = await serve((_, res) => {
    bytesServed += 100_000;
    res.end(Buffer.alloc(100_000));
  });
  const run = startLoad({ url, ratePerSec: 100, durationMs: 700, warmupMs: 300 });
  const { warmup, measured, partial } = await run.report;
  expect([warmup.ledger.ok, measured.ledger.ok, partial]).toEqual([30, 70, false]);
  expect([measured.completed.count, measured.all.count, measured.sendLag.count]).toEqual([
    70, 70, 70,
  ]);
  expect(bytesServed).toBe(100 * 100_000);
});

test("requests that are never answered count at the timeout, not among the completed", async () => {
  let seen = 0;
  const url = await serve((_, res) => {
    if (seen++ % 10 !== 9) res.end("ok");
  });
  const { measured } = await startLoad({ url, ratePerSec: 200, durationMs: 500, timeoutMs: 3000 })
    .report;
  expectToAddUp(measured.ledger);
  expect([measured.ledger.ok, measured.ledger.timeouts]).toEqual([90, 10]);
  expect(measured.completed.count).toBe(90);
  expect(measured.all.quantile(0.99)).toBeGreaterThanOrEqual(2_980_000);
});

test("a frozen server cannot hide the requests that it kept waiting", async () => {
  const frozen: (() => void)[] = [];
  let isFrozen: boolean | undefined;
  const thaw = (): void => {
    isFrozen = false;
    for (const answer of frozen) answer();
  };
  const url = await serve((_, res) => {
    if (isFrozen === undefined) setTimeout(thaw, 500);
    isFrozen ??= true;
    if (isFrozen) frozen.push(() => res.end("ok"));
    else res.end("ok");
  });
  const { measured } = await startLoad({
    url,
    ratePerSec: 200,
    durationMs: 1_000,
    arrivals: "uniform",
  }).report;
  expect(measured.ledger.ok).toBe(200);
  // Half of the run met a server frozen for 500 ms: a quarter of all waited for half of that or longer.
  expect(measured.all.quantile(0.8)).toBeGreaterThan(200_000);
});

test("a server that always takes 50 ms is never reported as faster", async () => {
  const url = await serve((_, res) => {
    setTimeout(() => res.end("ok"), 51);
  });
  const { measured } = await startLoad({ url, ratePerSec: 50, durationMs: 600 }).report;
  expect(measured.completed.min).toBeGreaterThanOrEqual(50_000);
  expect(measured.completed.count).toBe(30);
});

test("errors by status, broken connections and cut bodies are told apart", async () => {
  let seen = 0;
  const url = await serve((_, res) => {
    const turn = seen++ % 4;
    if (turn === 0) res.end("ok");
    else if (turn === 1) res.writeHead(503).end("no");
    else if (turn === 2) res.destroy();
    else res.writeHead(200, { "content-length": 10 }).write("cut", () => res.destroy());
  });
  const { measured } = await startLoad({ url, ratePerSec: 200, durationMs: 500 }).report;
  expectToAddUp(measured.ledger);
  expect(measured.ledger).toMatchObject({ ok: 25, httpErrors: 25, transportErrors: 50 });
});

test("a port where nobody listens is a ledger of transport errors", async () => {
  const { measured } = await startLoad({
    url: "http://127.0.0.1:1/",
    ratePerSec: 100,
    durationMs: 200,
  }).report;
  expectToAddUp(measured.ledger);
  expect(measured.ledger.transportErrors).toBe(20);
});

test("beyond the cap requests are dropped and counted, and never wait in the client", async () => {
  const url = await serve(() => {});
  const { measured } = await startLoad({
    url,
    ratePerSec: 500,
    durationMs: 200,
    timeoutMs: 1_000,
    maxInFlight: 7,
  }).report;
  expectToAddUp(measured.ledger);
  expect([measured.ledger.sent, measured.ledger.dropped, measured.ledger.timeouts]).toEqual([
    7, 93, 7,
  ]);
  expect([measured.all.count, infiniteCount(measured)]).toEqual([7, 93]);
});

test("a run that is stopped leaves a partial report that adds up, and the server sees its clients go", async () => {
  let open = 0;
  const url = await serve((_, res) => {
    open++;
    res.once("close", () => open--);
  });
  const stop = new AbortController();
  const run = startLoad({ url, ratePerSec: 200, durationMs: 5_000, signal: stop.signal });
  await expect.poll(() => open).toBeGreaterThan(10);
  stop.abort();
  const { measured, partial } = await run.report;
  expectToAddUp(measured.ledger);
  expect([partial, measured.ledger.openAtEnd > 10, measured.ledger.unsent > 0]).toEqual([
    true,
    true,
    true,
  ]);
  await expect.poll(() => open).toBe(0);
});

test("a run that is stopped before it starts sends nothing", async () => {
  const { measured, partial } = await startLoad({
    url: "http://127.0.0.1:1/",
    ratePerSec: 100,
    durationMs: 1_000,
    signal: AbortSignal.abort(),
  }).report;
  expect([measured.ledger.unsent, measured.ledger.sent, partial]).toEqual([100, 0, true]);
});

test.each([
  ["url", { url: "ftp://x/" }],
  ["ratePerSec", { ratePerSec: 0 }],
  ["durationMs", { durationMs: Number.NaN }],
  ["maxInFlight", { maxInFlight: 0.5 }],
  ["arrivals", { arrivals: "bursts" as never }],
  ["seed", { seed: 0.5 }],
])("an option out of range is refused by name: %s", (name, wrong) => {
  const start = (): unknown =>
    startLoad({ url: "http://127.0.0.1:1/", ratePerSec: 1, durationMs: 1, ...wrong });
  expect(start).toThrow(expect.objectContaining({ code: "ERR_BOBTAIL_OPTION" }));
  expect(start).toThrow(name);
});
