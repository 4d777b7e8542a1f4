import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { startLoad } from "../../packages/cli/src/load/load.ts";
import { checkLoadOptions } from "../../packages/cli/src/load/load-plan.ts";
import { emptySection } from "../../packages/cli/src/load/load-report.ts";
import { monotonicMs } from "../../packages/cli/src/load/monotonic-clock.ts";
import { OpenLoop } from "../../packages/cli/src/load/open-loop.ts";
import { runThreads } from "../../packages/cli/src/load/run-threads.ts";
import { WHOLE } from "../../packages/cli/src/load/schedule.ts";
import { CommandFailure } from "../../packages/cli/src/terminal/failure.ts";
import { afterThisTest, expectToAddUp, serve } from "./load.testbed.ts";

test("three threads send exactly the plan, and their reports are one", async () => {
  const paths = new Map<string, number>();
  const url = await serve((req, res) => {
    paths.set(req.url ?? "", (paths.get(req.url ?? "") ?? 0) + 1);
    res.end("ok");
  });
  const options = {
    targets: [
      { url: `${url}a`, weight: 2 },
      { url: `${url}b`, weight: 1 },
    ],
    ratePerSec: 400,
    durationMs: 1_000,
    warmupMs: 500,
    intervalMs: 250,
  };
  let measures = 0;
  const run = startLoad({ ...options, workers: 3, onMeasure: () => measures++ });
  const report = await run.report;
  expectToAddUp(report);
  expect([report.warmup.ledger.ok, report.measured.ledger.ok, measures]).toEqual([200, 400, 1]);
  expect([report.intervals.length, report.partial]).toEqual([4, false]);
  expect(run.measured.ledger.ok).toBe(400);
  const threaded = [...paths];
  paths.clear();
  await startLoad(options).report;
  expect(threaded.sort()).toEqual([...paths].sort());
});

test("threads together drop what is beyond the cap, and keep the number of connections", async () => {
  let open = 0;
  let most = 0;
  const url = await serve((_, res) => {
    most = Math.max(most, ++open);
    res.once("close", () => open--);
  });
  const report = await startLoad({
    url,
    ratePerSec: 400,
    durationMs: 500,
    timeoutMs: 800,
    maxInFlight: 7,
    workers: 3,
  }).report;
  expectToAddUp(report);
  expect([report.measured.ledger.sent, report.measured.ledger.dropped, most]).toEqual([7, 193, 7]);
  expect(report.check.verdict).toBe("generator-limited");
});

test("threads that are stopped leave one partial report that adds up", async () => {
  const url = await serve(() => {});
  const stop = new AbortController();
  const run = startLoad({
    url,
    ratePerSec: 300,
    durationMs: 60_000,
    workers: 2,
    signal: stop.signal,
  });
  // The figures so far come while it runs.
  await expect.poll(() => run.measured.ledger.sent, { timeout: 20_000 }).toBeGreaterThan(50);
  expect(run.elapsedMs()).toBeGreaterThan(0);
  stop.abort();
  const report = await run.report;
  expectToAddUp(report);
  expect([report.partial, report.measured.ledger.planned]).toEqual([true, 18_000]);
  expect(report.measured.ledger.openAtEnd).toBeGreaterThan(50);
});

test("a sending thread that dies ends the run with an error that says so", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bobtail-load-"));
  afterThisTest(() => rmSync(folder, { recursive: true }));
  const script = join(folder, "dies.mjs");
  writeFileSync(
    script,
    `import { parentPort, workerData } from "node:worker_threads";
     parentPort.on("message", ({ kind }) => {
       if (kind === "start" && workerData.share.index === 1) throw new Error("it was too much");
     });
     parentPort.postMessage({ kind: "ready" });`,
  );
  const plan = checkLoadOptions({
    url: "http://127.0.0.1:1/",
    ratePerSec: 10,
    durationMs: 60_000,
    workers: 2,
  });
  const run = runThreads({
    plan,
    warmup: emptySection(0),
    measured: emptySection(0),
    signal: new AbortController().signal,
    script: pathToFileURL(script),
    onMeasure() {},
    onStart() {},
  });
  await expect(run).rejects.toThrow(CommandFailure);
  await expect(run).rejects.toThrow("a sending thread ended before the run did: it was too much");
});

test("the sender's own timers keep the plan too", async () => {
  const url = await serve((_, res) => res.end("ok"));
  const report = await startLoad({
    url,
    ratePerSec: 500,
    durationMs: 500,
    pacing: "timer",
    workers: 2,
  }).report;
  expectToAddUp(report);
  expect(report.measured.ledger.ok).toBe(250);
});

test("a trace is sent moment by moment, by two threads as by one", async () => {
  const plannedMs = Float64Array.from({ length: 100 }, (_, i) => Math.floor(i / 10) * 40);
  const url = await serve((_, res) => res.end("ok"));
  for (const workers of [1, 2]) {
    const report = await startLoad({ url, plannedMs, workers, intervalMs: 40 }).report;
    expectToAddUp(report);
    expect(report.intervals.map(({ sent }) => sent)).toEqual(new Array(10).fill(10));
  }
});

test("every thread reads the same clock", async () => {
  const clock = new URL("../../packages/cli/dist/load/monotonic-clock.js", import.meta.url);
  const code = `import(${JSON.stringify(clock.href)}).then(({ monotonicMs }) => {
    const { parentPort } = require("node:worker_threads");
    parentPort.on("message", () => parentPort.postMessage(monotonicMs()));
    parentPort.postMessage("ready");
  });`;
  const worker = new Worker(code, { eval: true, execArgv: [] });
  afterThisTest(async () => {
    await worker.terminate();
  });
  const next = (): Promise<unknown> => new Promise((resolve) => worker.once("message", resolve));
  await next();
  for (let i = 0; i < 20; i++) {
    const before = monotonicMs();
    worker.postMessage("now");
    const there = (await next()) as number;
    // Two readings of one clock, each off by less than a tenth of a millisecond.
    expect(there).toBeGreaterThan(before - 0.1);
    expect(there).toBeLessThan(monotonicMs() + 0.1);
  }
});

test("a run whose pacing thread dies is paced by timers to its end", async () => {
  const url = await serve((_, res) => res.end("ok"));
  const plan = checkLoadOptions({ url, ratePerSec: 200, durationMs: 300 });
  const { maxInFlight, connections } = plan;
  const loop = new OpenLoop({ plan, share: WHOLE, maxInFlight, connections, onMeasure() {} });
  const over = loop.run(monotonicMs() + 50, () => ({ sleepUntil() {}, stop() {} }));
  loop.fallBack();
  const { measured, fellBack } = await over;
  expect([measured.ledger.ok, fellBack]).toEqual([60, true]);
});

test("a generator that was kept from sending says so", async () => {
  const url = await serve((_, res) => res.end("ok"));
  const run = startLoad({ url, ratePerSec: 500, durationMs: 800, arrivals: "uniform" });
  await expect.poll(() => run.measured.ledger.ok).toBeGreaterThan(5);
  for (const untilMs = performance.now() + 400; performance.now() < untilMs; );
  const report = await run.report;
  expectToAddUp(report);
  expect(report.check.verdict).toBe("generator-limited");
  expect(report.check.reasons.join()).toMatch(/left up to \d+ ms late/);
  expect(report.check.sendLagP99Ms).toBeGreaterThan(100);
});
