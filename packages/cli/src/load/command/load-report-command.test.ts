import { expect, test } from "vitest";
import { CommandFailure, EXIT } from "../../terminal/failure.ts";
import { inventedRun } from "../output/run-record.testbed.ts";
import type { LoadResult } from "../output/run-record.ts";
import { conditionFlag } from "./condition.ts";
import { exitCodeOf } from "./exit-code.ts";
import { judged } from "./load-report-command.ts";

const FAIL_IF = [conditionFlag("p99>50ms")];
const [fast, slow] = [10, 90].map((ms) => inventedRun({ outcome: () => ms }));

test("a stored sweep is judged anew, each of its runs", () => {
  if (fast === undefined || slow === undefined) throw new Error("no runs");
  const sweep = { kind: "sweep", runs: [fast, slow], stopped: undefined } as const;
  expect(exitCodeOf(judged(sweep, undefined))).toBe(EXIT.ok);
  const result = judged(sweep, FAIL_IF);
  expect(exitCodeOf(result)).toBe(EXIT.failed);
  const verdicts = result.kind === "sweep" && result.runs.flatMap((run) => run.verdicts);
  expect(verdicts).toMatchObject([{ verdict: "held" }, { verdict: "failed" }]);
});

test("a stored search has its own objective: another condition is refused, not passed over", () => {
  const search: LoadResult = {
    kind: "limit",
    objective: "p99<50ms",
    probes: [],
    ratePerSec: 100,
    because: "it held",
  };
  expect(judged(search, undefined)).toBe(search);
  expect(() => judged(search, FAIL_IF)).toThrow(CommandFailure);
});
