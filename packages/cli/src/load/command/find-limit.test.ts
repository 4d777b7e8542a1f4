import fc from "fast-check";
import { expect, test } from "vitest";
import { EXIT } from "../../terminal/failure.ts";
import { inventedRun } from "../output/run-record.testbed.ts";
import type { Probe, RunRecord } from "../output/run-record.ts";
import { objectiveFlag } from "./condition.ts";
import { exitCodeOf } from "./exit-code.ts";
import { findLimit } from "./find-limit.ts";
import { type LoadRequest, readRequest } from "./load-request.ts";
import { rateFlag, sweepFlag } from "./rate-flags.ts";
import { sweep } from "./sweep.ts";

type Target = (
  ratePerSec: number,
  probe: number,
  durationMs: number,
) => { readonly ms: number; readonly limited?: boolean };

const request = (rate: string): Promise<LoadRequest> =>
  readRequest(["http://127.0.0.1:9/"], { rate: rateFlag(rate), duration: 4_000 });

const invented = new Map<string, RunRecord>();

/** A run of that request by a target that always takes as long; few requests, whatever the rate. */
function runOf({ setup }: LoadRequest, { ms, limited = false }: ReturnType<Target>): RunRecord {
  const known = invented.get(`${ms} ${limited}`);
  const run =
    known ??
    inventedRun({
      options: { ratePerSec: 400, durationMs: 1_000 },
      outcome: () => ms,
      ...(limited && { check: { verdict: "generator-limited", reasons: ["late"] } }),
    });
  invented.set(`${ms} ${limited}`, run);
  return { ...run, setup };
}

async function search(target: Target, rate = "50", signal = new AbortController().signal) {
  const probes: Probe[] = [];
  const record = await findLimit(await request(rate), objectiveFlag("p99<50ms"), {
    runAt: (one, { index, ratePerSec }) =>
      Promise.resolve(runOf(one, target(ratePerSec, index, one.setup.durationMs))),
    onProbe: (probe) => probes.push(probe),
    signal,
  });
  expect(record.probes).toEqual(probes);
  return record;
}

const phases = ({ probes }: { readonly probes: readonly Probe[] }) => [
  ...new Set(probes.map(({ phase }) => phase)),
];

test("rates are doubled, then bisected, and what is told was confirmed by a longer run of its own", async () => {
  const record = await search((rate) => ({ ms: rate <= 730 ? 10 : 90 }));
  expect(phases(record)).toEqual(["grow", "bisect", "confirm"]);
  expect(record.probes.slice(0, 5).map(({ ratePerSec }) => ratePerSec)).toEqual([
    50, 100, 200, 400, 800,
  ]);
  expect(record.ratePerSec).toBeGreaterThan(730 / 1.06);
  expect(record.ratePerSec).toBeLessThanOrEqual(730);
  const last = record.probes.at(-1);
  expect([last?.ratePerSec, last?.run.setup.durationMs]).toEqual([record.ratePerSec, 8_000]);
  expect(record.because).toMatch(/at \d+\/s it was 90/);
  expect(exitCodeOf(record)).toBe(EXIT.ok);
});

test("wherever the limit is, what is found is below it and near it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 900_000 }), async (limit) => {
      const { ratePerSec = 0, probes } = await search((rate) => ({ ms: rate <= limit ? 10 : 90 }));
      expect(ratePerSec).toBeLessThanOrEqual(limit);
      expect(ratePerSec).toBeGreaterThan(limit / 1.06);
      expect(probes.length).toBeLessThan(35);
    }),
    { numRuns: 30 },
  );
});

test("a run that was lucky is not told: the rate is lowered until one holds again", async () => {
  // Above 340 it holds only in the probes before the confirmation.
  const record = await search((rate, _, durationMs) => ({
    ms: rate <= 340 || (rate < 380 && durationMs < 8_000) ? 10 : 90,
  }));
  const confirmed = record.probes.filter(({ phase }) => phase === "confirm");
  expect(confirmed.length).toBeGreaterThan(1);
  expect(record.ratePerSec).toBeLessThan(confirmed[0]?.ratePerSec ?? 0);
  const never = await search(
    (_, _probe, durationMs) => ({ ms: durationMs < 8_000 ? 10 : 90 }),
    "400",
  );
  expect(never).toMatchObject({
    ratePerSec: undefined,
    because: expect.stringContaining("not steady"),
  });
  expect(exitCodeOf(never)).toBe(EXIT.failed);
});

test("an objective that nothing keeps is told as such, after a few lower rates", async () => {
  const record = await search(() => ({ ms: 90 }));
  expect(phases(record)).toEqual(["grow", "shrink"]);
  expect(record.because).toMatch(/not even .* keeps it/);
  expect(exitCodeOf(record)).toBe(EXIT.failed);
});

test("a generator that cannot keep up is the limit of the search, not of the target", async () => {
  const record = await search((rate) => (rate <= 400 ? { ms: 10 } : { ms: 90, limited: true }));
  expect(record.ratePerSec).toBeGreaterThan(370);
  expect(record.because).toContain("the generator could not keep up: the target may do more");
  // What holds in spite of a late generator holds.
  const late = await search((rate) => ({ ms: rate <= 400 ? 10 : 90, limited: true }));
  expect(late.probes[0]?.outcome).toBe("held");
  const never = await search(() => ({ ms: 90, limited: true }));
  expect(never.probes).toHaveLength(2);
  expect(exitCodeOf(never)).toBe(EXIT.notValid);
});

test("a search that is stopped says so and tells no rate", async () => {
  const stop = new AbortController();
  const target: Target = (_, probe) => {
    if (probe === 2) stop.abort();
    return { ms: 10 };
  };
  const record = await search(target, "50", stop.signal);
  expect([record.probes.length, record.ratePerSec]).toEqual([3, undefined]);
  expect(record.because).toContain("stopped by a signal");
});

test("probes at low rates last until the percentile has a sample", async () => {
  const { probes } = await search((rate) => ({ ms: rate <= 3 ? 10 : 90 }), "1");
  for (const { run } of probes) {
    const { profile, durationMs } = run.setup;
    expect(((profile[0]?.fromPerSec ?? 0) * durationMs) / 1_000).toBeGreaterThanOrEqual(368);
  }
});

async function swept(target: Target) {
  const rows: RunRecord[] = [];
  const record = await sweep(await request("50"), sweepFlag("50..800:x2"), {
    runAt: (one, { index, ratePerSec }) =>
      Promise.resolve(runOf(one, target(ratePerSec, index, one.setup.durationMs))),
    onRow: (run) => rows.push(run),
    signal: new AbortController().signal,
  });
  expect(record.runs).toEqual(rows);
  return record;
}

test("a sweep ends where the generator does, and not for one row that its machine spoiled", async () => {
  const whole = await swept((rate) => ({ ms: 10, limited: rate === 200 }));
  expect([whole.runs.length, whole.stopped]).toEqual([5, undefined]);
  const ended = await swept((rate) => ({ ms: 10, limited: rate >= 200 }));
  expect(ended.runs).toHaveLength(4);
  expect(ended.stopped).toContain("the generator could not keep up");
});

test("a sweep ends clearly past saturation: many failures, or a queue that grows through the whole run", async () => {
  const failing = { ...runOf(await request("50"), { ms: 10 }) };
  const rows = (run: RunRecord) =>
    request("50").then((first) =>
      sweep(first, [50, 100, 200], {
        runAt: (one, { index }) =>
          Promise.resolve(index === 0 ? failing : { ...run, setup: one.setup }),
        onRow: () => undefined,
        signal: new AbortController().signal,
      }),
    );
  const refused = inventedRun({ outcome: (i) => (i % 5 === 0 ? "refused" : 10) });
  expect(await rows(refused)).toMatchObject({ stopped: "past saturation: 20.0 % failed" });
  const queueing = inventedRun({ outcome: (i) => 10 + i });
  expect((await rows(queueing)).stopped).toMatch(/past saturation: the median grew from/);
  const slow = inventedRun({ outcome: () => 400 });
  expect((await rows(slow)).stopped).toBeUndefined();
});
