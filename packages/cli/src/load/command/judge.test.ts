import { expect, test } from "vitest";
import { EXIT } from "../../terminal/failure.ts";
import { type InventedRun, inventedRun } from "../output/run-record.testbed.ts";
import type { RunRecord } from "../output/run-record.ts";
import { conditionFlag } from "./condition.ts";
import { exitCodeOf } from "./exit-code.ts";
import { judgeFailIf } from "./judge.ts";

const judge = (condition: string, invented: InventedRun) =>
  judgeFailIf(conditionFlag(condition), inventedRun(invented));

test("a bare percentile has the failures in it, ok. has not", () => {
  const failing: InventedRun = { outcome: (i) => (i % 20 === 0 ? "refused" : 2) };
  expect(judge("p99>1h", failing)).toMatchObject({
    verdict: "failed",
    measured: "unbounded (5.0 % failed)",
  });
  expect(judge("ok.p99>3ms", failing)).toMatchObject({ verdict: "held", measured: "2.00 ms" });
  expect(judge("p90>3ms", failing).verdict).toBe("held");
  expect(judge("errors>4.9%", failing).verdict).toBe("failed");
  expect(judge("errors>5%", failing).verdict).toBe("held");
});

test("the bound itself is beyond it where an equals sign says so", () => {
  const failing: InventedRun = { outcome: (i) => (i % 20 === 0 ? "refused" : 2) };
  expect(judge("errors>=5%", failing).verdict).toBe("failed");
  expect(judge("errors<=5%", failing).verdict).toBe("failed");
  expect(judge("errors<5%", failing).verdict).toBe("held");
  expect(judge("errors>=0", {}).verdict).toBe("failed");
  expect(judge("sent<=100%", {}).verdict).toBe("failed");
  expect(judge("ok.p99>=2ms", {}).verdict).toBe("failed");
  expect(judge("ok.p99<=2ms", {}).verdict).toBe("failed");
  expect(judge("ok.p99<2ms", {}).verdict).toBe("held");
});

test("what is only known to be at least so long breaks a bound below it, and decides none above it", () => {
  const waiting: InventedRun = {
    options: { timeoutMs: 1_000 },
    outcome: (i) => (i % 10 === 0 ? "timeout" : 2),
  };
  expect(judge("p95>900ms", waiting).verdict).toBe("failed");
  expect(judge("p95>2s", waiting).verdict).toBe("undecided");
  expect(judge("p95<2s", waiting).verdict).toBe("undecided");
  expect(judge("p95<900ms", waiting).verdict).toBe("held");
});

test("a percentile that the sample does not carry is not judged", () => {
  expect(judge("p99.9>1ms", {})).toMatchObject({
    verdict: "undecided",
    measured: "needs 3,688 samples",
  });
});

test("requests that a stop left out count neither as failed nor as not sent", () => {
  const stopped: InventedRun = { outcome: (i) => (i < 600 ? 2 : "unsent") };
  expect(judge("errors>0", stopped).verdict).toBe("held");
  expect(judge("sent<100%", stopped).verdict).toBe("held");
  expect(judge("errors>0", { outcome: () => "unsent" }).verdict).toBe("undecided");
  const dropping: InventedRun = { outcome: (i) => (i % 2 === 0 ? "dropped" : 2) };
  expect(judge("sent<99%", dropping)).toMatchObject({ verdict: "failed", measured: "50.0 %" });
  expect(judge("sent<60/s", dropping)).toMatchObject({ verdict: "failed", measured: "50/s" });
});

const verdict = (word: "held" | "failed" | "undecided") => ({
  condition: "p99>5ms",
  verdict: word,
  measured: "",
});
const limited = { check: { verdict: "generator-limited" } } as const;
test.each<[string, InventedRun, number]>([
  ["nothing was asked", {}, EXIT.ok],
  ["all held", { verdicts: [verdict("held")] }, EXIT.ok],
  [
    "one failed",
    { verdicts: [verdict("held"), verdict("failed"), verdict("undecided")] },
    EXIT.failed,
  ],
  ["one cannot be told", { verdicts: [verdict("undecided")] }, EXIT.notValid],
  [
    "the generator was the bottleneck",
    { ...limited, verdicts: [verdict("failed")] },
    EXIT.notValid,
  ],
])("the exit code when %s", (_, invented, code) => {
  expect(exitCodeOf({ kind: "run", run: inventedRun(invented) })).toBe(code);
});

const sweep = (...runs: readonly RunRecord[]) =>
  ({ kind: "sweep", runs, stopped: undefined }) as const;
const judged = (word: "held" | "failed" | "undecided", more: InventedRun = {}) =>
  inventedRun({ ...more, verdicts: [verdict(word)] });

test("a sweep of which the generator spoiled a row does not stand: a build is not told that all rates were measured", () => {
  expect(exitCodeOf(sweep(inventedRun(), inventedRun()))).toBe(EXIT.ok);
  expect(exitCodeOf(sweep(inventedRun(), inventedRun(limited)))).toBe(EXIT.notValid);
  expect(exitCodeOf(sweep(inventedRun(limited)))).toBe(EXIT.notValid);
  expect(exitCodeOf(sweep(judged("held"), judged("held", limited)))).toBe(EXIT.notValid);
});

test("a row that the generator spoiled breaks no threshold; one that stands does, whatever the others are", () => {
  expect(exitCodeOf(sweep(judged("held"), judged("failed", limited)))).toBe(EXIT.notValid);
  expect(exitCodeOf(sweep(judged("failed"), judged("held", limited)))).toBe(EXIT.failed);
  expect(exitCodeOf(sweep(judged("failed"), judged("undecided")))).toBe(EXIT.failed);
});

test("what answers nothing well has failed, with no threshold and with one that held or cannot be told", () => {
  const refused: InventedRun = { outcome: () => "refused" };
  expect(exitCodeOf({ kind: "run", run: inventedRun(refused) })).toBe(EXIT.failed);
  expect(exitCodeOf({ kind: "run", run: judged("held", refused) })).toBe(EXIT.failed);
  expect(exitCodeOf({ kind: "run", run: judged("undecided", refused) })).toBe(EXIT.failed);
  expect(exitCodeOf({ kind: "run", run: inventedRun({ ...refused, ...limited }) })).toBe(
    EXIT.notValid,
  );
  expect(exitCodeOf(sweep(inventedRun(refused), inventedRun(refused)))).toBe(EXIT.failed);
  expect(exitCodeOf(sweep(inventedRun(), inventedRun(refused)))).toBe(EXIT.ok);
});

test("a search whose objective holds for errors that come at once has found no rate", () => {
  const run = inventedRun({ outcome: () => "refused" });
  const probe = {
    ratePerSec: 100,
    phase: "confirm",
    outcome: "held",
    measured: "1 ms",
    run,
  } as const;
  const found = { kind: "limit", objective: "lag.p99<9ms", because: "it held" } as const;
  expect(exitCodeOf({ ...found, probes: [probe], ratePerSec: 100 })).toBe(EXIT.failed);
  const answered = { ...probe, run: inventedRun() };
  expect(exitCodeOf({ ...found, probes: [answered], ratePerSec: 100 })).toBe(EXIT.ok);
});
