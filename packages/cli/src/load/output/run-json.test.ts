import { expect, test } from "vitest";
import { createPalette } from "../../terminal/palette.ts";
import { parseResult } from "./read-run-json.ts";
import { resultText } from "./result-text.ts";
import { resultJson } from "./run-json.ts";
import { inventedRun, mixedRun } from "./run-record.testbed.ts";
import type { LoadResult } from "./run-record.ts";

const stored = (result: LoadResult) => JSON.stringify(resultJson(result, "0.1.0"));
const text = (result: LoadResult) =>
  resultText(result, { palette: createPalette(false), columns: 80 });

test("what is read back is what was written: the same text, and the same file to the last byte", () => {
  const run = mixedRun();
  const probe = {
    ratePerSec: 100,
    phase: "grow",
    outcome: "failed",
    measured: "9 ms",
    run,
  } as const;
  const because = "not even 100/s keeps it";
  const results: readonly LoadResult[] = [
    { kind: "run", run },
    { kind: "sweep", runs: [run, inventedRun()], stopped: "past saturation" },
    { kind: "limit", objective: "p99<5ms", probes: [probe], ratePerSec: undefined, because },
  ];
  for (const result of results) {
    const back = parseResult("run.json", stored(result));
    expect(text(back)).toBe(text(result));
    expect(stored(back)).toBe(stored(result));
  }
});

test("units are in the names, and what is not known is null with its reason", () => {
  const json = resultJson({ kind: "run", run: mixedRun() }, "0.1.0");
  expect(json).toMatchObject({
    schema: "bobtail.load/1",
    kind: "run",
    response: {
      count: 1_000,
      p50_ms: expect.any(Number),
      p99_ms: null,
      p99_ms_reason: "unbounded: 4.0 % failed",
      "p99.9_ms": null,
      "p99.9_ms_reason": "needs 3,688 samples",
    },
    measured: { ledger: { planned: 1_000, http_errors: 20, transport_errors: 20, timeouts: 20 } },
    check: { send_lag_p99_ms: null },
  });
  const timedOut = inventedRun({ outcome: (i) => (i % 10 === 0 ? "timeout" : 2) });
  expect(resultJson({ kind: "run", run: timedOut }, "0.1.0")).toMatchObject({
    response: { p95_ms: expect.any(Number), p95_ms_reason: expect.stringContaining("at least") },
    success_only: { p95_ms: expect.any(Number) },
  });
});

test("no header value, body or digest of less than all of it gives away what was sent", () => {
  const targets = [
    {
      url: "http://127.0.0.1/",
      headers: { authorization: "Bearer s3cret" },
      body: Buffer.from("pin=77"),
    },
  ];
  const file = stored({ kind: "run", run: inventedRun({ options: { url: undefined, targets } }) });
  expect(file).toContain("authorization");
  expect(file).not.toMatch(/s3cret|pin=77/);
});
