// Defects that load generators had, each as the test that would have found it. The numbers are those of
// the list of reports that they come from.
import { expect, test } from "vitest";
import { startLoad } from "../../packages/cli/src/load/load.ts";
import { headlineQuantile } from "../../packages/cli/src/load/load-report.ts";
import { expectToAddUp, serve } from "./load.testbed.ts";

test("load 1: a server that always takes 50 ms is never reported as faster, and every answer counts once", async () => {
  const url = await serve((_, res) => {
    setTimeout(() => res.end("ok"), 51);
  });
  const report = await startLoad({ url, ratePerSec: 60, durationMs: 1_000 }).report;
  expectToAddUp(report);
  expect(report.measured.all.min).toBeGreaterThanOrEqual(50_000);
  expect(report.measured.all.count).toBe(60);
});

test("load 2: a server that never answers one request in ten has a p99 of at least the timeout", async () => {
  let seen = 0;
  const url = await serve((_, res) => {
    if (seen++ % 10 !== 9) res.end("ok");
  });
  const report = await startLoad({ url, ratePerSec: 400, durationMs: 1_000, timeoutMs: 700 })
    .report;
  expectToAddUp(report);
  expect(report.measured.ledger).toMatchObject({ planned: 400, ok: 360, timeouts: 40 });
  const p99 = headlineQuantile(report.measured, 0.99);
  expect(p99).toMatchObject({ bound: "at-least" });
  expect((p99 as { ms: number }).ms).toBeGreaterThanOrEqual(695);
  // The same without them, which is what others print.
  expect(report.measured.completed.quantile(0.99)).toBeLessThan(650_000);
});

test("load 2: what is open when a run is stopped is in its percentiles, at the time that it has waited", async () => {
  let seen = 0;
  const url = await serve(() => {
    seen++;
  });
  const stop = new AbortController();
  const run = startLoad({ url, ratePerSec: 100, durationMs: 60_000, signal: stop.signal });
  await expect.poll(() => seen).toBeGreaterThan(19);
  stop.abort();
  const report = await run.report;
  expectToAddUp(report);
  expect(report.partial).toBe(true);
  expect(report.measured.all.count).toBe(report.measured.ledger.openAtEnd);
  expect(headlineQuantile(report.measured, 0.5)).toMatchObject({ bound: "at-least" });
});

test("load 4: a run shorter than anything has no NaN in its counts and times, and its time is the clock's", async () => {
  const url = await serve((_, res) => res.end("ok"));
  const before = performance.now();
  const report = await startLoad({ url, ratePerSec: 1, durationMs: 1, warmupMs: 1 }).report;
  const tookMs = performance.now() - before;
  expectToAddUp(report);
  expect(report.measured.ledger).toMatchObject({ planned: 0, sent: 0 });
  for (const ms of [report.wallMs, report.warmupMs, report.runMs, report.drainMs]) {
    expect(ms).toBeGreaterThanOrEqual(0);
    expect(ms).toBeLessThan(tookMs);
  }
  expect(headlineQuantile(report.measured, 0.5)).toBeUndefined();
});

test("load 5: a server frozen for half the run cannot hide whom it kept waiting", async () => {
  const frozen: (() => void)[] = [];
  let isFrozen: boolean | undefined;
  const url = await serve((_, res) => {
    if (isFrozen === undefined) {
      isFrozen = true;
      setTimeout(() => {
        isFrozen = false;
        for (const thaw of frozen) thaw();
      }, 600);
    }
    if (isFrozen) frozen.push(() => res.end("ok"));
    else res.end("ok");
  });
  const report = await startLoad({
    url,
    ratePerSec: 200,
    durationMs: 1_200,
    arrivals: "uniform",
  }).report;
  expectToAddUp(report);
  // Half of all met it; half of those waited for half of it or longer.
  const p75 = headlineQuantile(report.measured, 0.75);
  expect((p75 as { ms: number }).ms).toBeGreaterThan(200);
  expect(report.measured.ledger.ok).toBe(240);
});

test.each([
  [0.5, 4_000, 2],
  [3, 1_000, 3],
  [333.3, 700, 233],
])(
  "load 11: %d requests a second for %d ms are %d requests, warm-up apart",
  async (ratePerSec, durationMs, count) => {
    const url = await serve((_, res) => res.end("ok"));
    const run = startLoad({ url, ratePerSec, durationMs, warmupMs: 100, seed: 5 });
    const report = await run.report;
    expectToAddUp(report);
    expect(report.measured.ledger).toMatchObject({ planned: count, ok: count });
    expect(report.runMs).toBe(durationMs);
  },
);

test("load 16: the whole time is warm-up, run and drain, and the drain is no longer than the timeout", async () => {
  const url = await serve(() => {});
  const report = await startLoad({
    url,
    ratePerSec: 50,
    durationMs: 400,
    warmupMs: 200,
    timeoutMs: 900,
  }).report;
  expectToAddUp(report);
  expect([report.warmupMs, report.runMs]).toEqual([200, 400]);
  expect(report.drainMs).toBeGreaterThan(300);
  expect(report.warmup.ledger.timeouts).toBe(10);
  expect(report.measured.ledger.timeouts).toBe(20);
});

test("load 18: waiting for one of few connections is response time, and is named", async () => {
  let open = 0;
  let most = 0;
  const url = await serve((_, res) => {
    most = Math.max(most, ++open);
    setTimeout(() => {
      open--;
      res.end("ok");
    }, 40);
  });
  // 100 requests a second of 40 ms each are four at once: two connections take twice as long as the run.
  const report = await startLoad({ url, ratePerSec: 100, durationMs: 1_000, connections: 2 })
    .report;
  expectToAddUp(report);
  const { queueing, service, all, ledger } = report.measured;
  expect([ledger.ok, most, report.measured.connect.count]).toEqual([100, 2, 2]);
  expect(all.quantile(0.9)).toBeGreaterThan(3 * service.quantile(0.9));
  expect(queueing.quantile(0.9)).toBeGreaterThan(service.quantile(0.9));
  expect(report.check.notes.join()).toMatch(/waited up to .* for one of 2 connections/);
  expect(report.check.reasons.join()).not.toMatch(/dropped/);
});
