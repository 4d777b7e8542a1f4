import { expect, test } from "vitest";
import { inventedRun } from "../output/run-record.testbed.ts";
import { progressText } from "./load-progress.ts";

const plan = { warmupMs: 5_000, durationMs: 10_000 };
const at = (elapsedMs: number, sent: number) => {
  const { measured, warmup } = inventedRun({
    outcome: (i) => (i < sent ? (i % 10 === 0 ? "refused" : 2) : "unsent"),
  });
  return progressText({ measured, warmup, elapsedMs: () => elapsedMs }, plan, "load");
};

test("it says the rate that was kept, lag, percentiles, failures and what is left", () => {
  expect(at(1_000, 0)).toBe("load: warming up, 14 s left");
  expect(at(10_000, 500)).toMatch(
    /^load: 100\/s, lag [\d.]+ ms, p50 2\.00 ms, p99 2\.00 ms, failed 10\.0 %, 5 s left$/,
  );
  expect(at(5_100, 3)).toMatch(/lag -, p50 -, p99 -/);
});

test("after the last send it waits, and its rate does not fall for it", () => {
  expect(at(25_000, 1_000)).toMatch(/^load: 100\/s.*waiting for the last answers$/);
});
