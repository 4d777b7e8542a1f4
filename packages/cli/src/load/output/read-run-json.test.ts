import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Histogram } from "bobtail/engine";
import { expect, test } from "vitest";
import { CommandFailure } from "../../terminal/failure.ts";
import { mergeRuns } from "./merge-runs.ts";
import { readResult } from "./read-result.ts";
import { parseResult } from "./read-run-json.ts";
import { resultJson } from "./run-json.ts";
import { mixedRun } from "./run-record.testbed.ts";
import type { LoadResult } from "./run-record.ts";

const stored = (result: LoadResult) => JSON.stringify(resultJson(result, "0.1.0"));

// biome-ignore lint/suspicious/noExplicitAny: damage has every shape
type Edit = (json: Record<string, any>) => void;
test.each<[string, Edit, RegExp]>([
  [
    "another schema",
    (j) => {
      j.schema = "bobtail.sim/1";
    },
    /schema: expected bobtail\.load\/1, received "bobtail\.sim\/1"/,
  ],
  [
    "a count that is not the sum",
    (j) => {
      j.measured.ledger.sent = 999;
    },
    /measured\.ledger: 1000 planned are not 999 sent/,
  ],
  [
    "a count that does not agree",
    (j) => {
      j.measured.ledger.ok--;
      j.measured.ledger.timeouts++;
    },
    /histograms_us\.completed: it holds/,
  ],
  [
    "answers that nobody gave",
    (j) => {
      j.measured.statuses["200"]++;
    },
    /measured\.statuses: 961 answers, the ledger has 960/,
  ],
  [
    "a status that is none",
    (j) => {
      j.measured.statuses.abc = 0;
    },
    /measured\.statuses\.abc: this is no status/,
  ],
  [
    "failures that were none",
    (j) => {
      j.measured.failures.ECONNREFUSED = 7;
    },
    /measured\.failures: 7 failures, the ledger has 20/,
  ],
  [
    "a clock of other requests",
    (j) => {
      j.measured.histograms_us.send_lag = j.measured.histograms_us.service;
    },
    /measured\.histograms_us\.send_lag: it holds 940 values, the ledger 1000/,
  ],
  [
    "an interval too many",
    (j) => {
      j.intervals.push(j.intervals[0]);
    },
    /intervals\[10\]\.start_ms: it begins at 0 ms, and the one before ends at 10000 ms/,
  ],
  [
    "an interval that sent more",
    (j) => {
      j.intervals[2].sent++;
    },
    /intervals: together they have 1001 sent, the ledger 1000/,
  ],
  [
    "an interval at another time",
    (j) => {
      j.intervals[3].start_ms = 4_000;
    },
    /run\.json: intervals\[3\]\.start_ms: it begins at 4000 ms, and the one before ends at 3000 ms/,
  ],
  [
    "a first interval that begins later",
    (j) => {
      j.intervals.shift();
      j.intervals.forEach((one: { start_ms: number; sent: number }) => {
        one.sent = 0;
      });
    },
    /intervals\[0\]\.start_ms: it begins at 1000 ms, and measuring begins at 0 ms/,
  ],
  [
    "an interval longer than it was",
    (j) => {
      j.intervals[3].length_ms = 1_500;
    },
    /intervals\[4\]\.start_ms: it begins at 4000 ms, and the one before ends at 4500 ms/,
  ],
  [
    "an interval without length in the middle",
    (j) => {
      j.intervals[3].length_ms = 0;
    },
    /intervals\[4\]\.start_ms: it begins at 4000 ms, and the one before ends at 3000 ms/,
  ],
  [
    "a last interval beyond the run",
    (j) => {
      j.intervals[9].length_ms = 1e9;
    },
    /intervals\[9\]\.length_ms: it ends at 1000009000 ms, and 10000 ms were measured/,
  ],
  [
    "a last interval that ends before the run",
    (j) => {
      j.intervals[9].length_ms = 1;
    },
    /intervals\[9\]\.length_ms: the last one ends at 9001 ms of 10000 ms/,
  ],
  [
    "an interval before the beginning",
    (j) => {
      j.intervals[0].start_ms = -5;
    },
    /intervals\[0\]\.start_ms: expected a number of at least 0, received -5/,
  ],
  [
    "no intervals",
    (j) => {
      j.intervals = [];
    },
    /intervals: there is none, and 10000 ms were measured/,
  ],
  [
    "another plan than the set-up's",
    (j) => {
      j.setup.planned_count++;
    },
    /measured\.ledger\.planned: the setup has 1001 planned, the ledger 1000/,
  ],
  [
    "a start that is no time",
    (j) => {
      j.started_at = "yesterday";
    },
    /started_at: expected a date and time, received "yesterday"/,
  ],
  [
    "commands to a terminal",
    (j) => {
      j.check.notes = ["\u001b[2J"];
    },
    /check\.notes\[0\]: there are control characters in it/,
  ],
  [
    "a name that commands a terminal",
    (j) => {
      j.measured.failures["\u001b[2J"] = 0;
    },
    /measured\.failures: there are control characters in it/,
  ],
  [
    "a histogram of other bytes",
    (j) => {
      j.measured.histograms_us.all = "AAAA";
    },
    /histograms_us\.all: the histogram is damaged/,
  ],
  [
    "no base64",
    (j) => {
      j.intervals[3].all_us = "!";
    },
    /intervals\[3\]\.all_us: this is not base64/,
  ],
  [
    "a missing field",
    (j) => {
      delete j.setup.seed;
    },
    /setup\.seed: expected a number.*received nothing/,
  ],
  [
    "an edited setup",
    (j) => {
      j.setup.timeout_ms = 5;
    },
    /setup_sha256: it is not the digest of the setup/,
  ],
  [
    "a text for a number",
    (j) => {
      j.wall_ms = "5";
    },
    /wall_ms: expected a number of at least 0, received "5"/,
  ],
  [
    "an unknown verdict",
    (j) => {
      j.check.verdict = "fine";
    },
    /check\.verdict: expected ok or generator-limited/,
  ],
  [
    "a list that is none",
    (j) => {
      j.intervals = {};
    },
    /intervals: expected a list/,
  ],
])("a damaged file is refused with its place: %s", (_, edit, message) => {
  const json = JSON.parse(stored({ kind: "run", run: mixedRun() }));
  edit(json);
  const read = () => parseResult("run.json", JSON.stringify(json));
  expect(read).toThrow(CommandFailure);
  expect(read).toThrow(message);
});

test("the intervals of a stopped run, and of runs made one, are read back", () => {
  const whole = mixedRun();
  const stopped = {
    ...whole,
    startedAt: "2026-01-02T03:05:05.678Z",
    runMs: 9_250.4,
    // What was planned behind the stop has an interval without length.
    intervals: whole.intervals.map((one, i) => (i < 9 ? one : { ...one, lengthMs: 250.4 })),
  };
  const late = {
    startMs: 10_000,
    lengthMs: 0,
    all: new Histogram(),
    infinite: 0,
    sent: 0,
    dropped: 0,
  };
  const early = { ...stopped, intervals: [...stopped.intervals, late] };
  const merged = mergeRuns([
    { file: "a", run: early },
    { file: "b", run: whole },
  ]);
  for (const run of [early, merged]) {
    const result: LoadResult = { kind: "run", run };
    // A merged file has the digest of its own set-up.
    expect(stored(parseResult("run.json", stored(result)))).toBe(stored(result));
  }
});

test("a file that was cut anywhere is refused, and never an internal error", () => {
  const whole = stored({ kind: "run", run: mixedRun() });
  for (let length = 0; length < whole.length; length += 997)
    expect(() => parseResult("run.json", whole.slice(0, length))).toThrow(
      /^run\.json: this is not JSON, or it is cut short/,
    );
  const deep = `{"schema":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  for (const odd of [deep, "null", "[]", "7", '{"schema":"bobtail.load/1"}', '{"__proto__":{}}'])
    expect(() => parseResult("run.json", odd)).toThrow(CommandFailure);
  const comparison = '{\n  "schema": "bobtail.compare/1"\n}';
  expect(() => parseResult("run.json", comparison)).toThrow("this is a comparison");
});

test("a packed result is told as that, and how to unpack it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bobtail-load-"));
  try {
    const file = join(folder, "run.json");
    writeFileSync(file, gzipSync(stored({ kind: "run", run: mixedRun() })));
    await expect(readResult(file)).rejects.toMatchObject({
      message: `${file}: packed with gzip`,
      remedy: expect.stringContaining("gunzip"),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
