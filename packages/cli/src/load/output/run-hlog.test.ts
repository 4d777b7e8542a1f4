import { expect, test } from "vitest";
import { readTexts } from "../../plan/read.testbed.ts";
import { parseRunHlog } from "./read-run-hlog.ts";
import { runHlog } from "./run-hlog.ts";
import { inventedRun, stalledMs } from "./run-record.testbed.ts";

const stalled = () => {
  const latency = stalledMs(1_000);
  return inventedRun({
    outcome: (i) => (i % 40 === 0 ? "refused" : i % 40 === 1 ? "timeout" : latency(i)),
  });
};

test("`bobtail plan` reads the response times from it, with their unit, and no other clock", async () => {
  const run = stalled();
  const log = await readTexts({ "run.hlog": runHlog(run) });
  expect([log.count, log.formats]).toEqual([run.measured.all.count, ["hlog"]]);
  for (const q of [0.5, 0.9, 0.99]) {
    const expected = run.measured.all.quantile(q) / 1_000;
    expect(Math.abs(log.latency.quantile(q) / expected - 1)).toBeLessThan(0.01);
  }
  const service = await readTexts({ "run.hlog": runHlog(run) }, { field: "service" });
  expect(service.count).toBe(run.measured.service.count);
});

test("it is a whole report again: ledger, failures and set-up exactly, times to three digits", () => {
  const run = stalled();
  const back = parseRunHlog("run.hlog", runHlog(run));
  expect(back.measured.ledger).toEqual(run.measured.ledger);
  expect(back.measured.failures).toEqual(run.measured.failures);
  expect([back.setup, back.check, back.startedAt]).toEqual([run.setup, run.check, run.startedAt]);
  expect(back.intervals.map(({ infinite, all }) => [infinite, all.count])).toEqual(
    run.intervals.map(({ infinite, all }) => [infinite, all.count]),
  );
  expect(
    Math.abs(back.measured.all.quantile(0.99) / run.measured.all.quantile(0.99) - 1),
  ).toBeLessThan(0.01);
  expect(back.warmup.completed.count).toBe(run.warmup.completed.count);
});

test.each<[string, (log: string) => string, RegExp]>([
  [
    "of another program",
    (log) => log.replace(/#\[Bobtail.*\n/, ""),
    /no comment of `bobtail load`/,
  ],
  [
    "a line gone",
    (log) => log.replace(/\n0\.000,1\.000.*/, ""),
    /9 intervals without a tag, where 10/,
  ],
  ["a series gone", (log) => log.replace(/Tag=ok,.*\n/, ""), /do not hold what its ledger counts/],
  [
    "another clock's series gone",
    (log) => log.replace(/Tag=service,.*\n/, ""),
    /service: it holds 0 values, the ledger 950/,
  ],
  [
    "a damaged line",
    (log) => log.replace(/HISTFAAA/, "HISTFBBB"),
    /run\.hlog:6: the histogram is corrupt/,
  ],
  [
    "a line of another second",
    (log) => log.replace("\n3.000,1.000,", "\n4.000,1.000,"),
    /run\.hlog:9: start and length are 4\.000,1\.000, and 3\.000,1\.000 in its comment/,
  ],
  [
    "an interval of another second in its comment",
    (log) => log.replace('"start_ms":3000', '"start_ms":4000'),
    /run\.hlog: intervals\[3\]\.start_ms: it begins at 4000 ms/,
  ],
  ["a cut comment", (log) => log.replace(/"setup".*\n/, "\n"), /cut short/],
])("a log that is not whole is refused with its reason: %s", (_, damage, message) => {
  expect(() => parseRunHlog("run.hlog", damage(runHlog(stalled())))).toThrow(message);
});
