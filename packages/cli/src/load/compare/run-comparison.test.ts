import { expect, test } from "vitest";
import type { LoadRequest } from "../command/load-request.ts";
import type { RunRecord } from "../output/run-record.ts";
import { evenSeconds, recordedRun, SETUP } from "./recorded-run.testbed.ts";
import { runComparison } from "./run-comparison.ts";

function request(url: string, seed: number): LoadRequest {
  return { options: { url, seed }, setup: { ...SETUP, seed } };
}

interface Made {
  readonly url: string | undefined;
  readonly seed: number | undefined;
  readonly label: string;
}

async function compareWith(
  runs: number,
  {
    signal = new AbortController().signal,
    change = (run: RunRecord, _made: number) => run,
    seed = 7,
  } = {},
) {
  const made: Made[] = [];
  const sides = await runComparison({
    ...{ a: request("http://a/", seed), b: request("http://b/", seed), runs, signal },
    runOnce: async ({ options }, label) => {
      made.push({ url: options.url, seed: options.seed, label });
      return change(recordedRun({ secondsMs: evenSeconds(1) }), made.length);
    },
  });
  return { made, sides };
}

test("sides take turns as A B B A, the runs of a pair share their seed, and each pair has another", async () => {
  const { made, sides } = await compareWith(4);
  expect(made.map(({ url }) => url?.at(-2)).join("")).toBe("abbaabba");
  expect(made.map(({ seed }) => seed)).toEqual([7, 7, 8, 8, 9, 9, 10, 10]);
  const last = Number.MAX_SAFE_INTEGER;
  const { made: greatest } = await compareWith(2, { seed: last });
  expect(greatest.map(({ seed }) => seed)).toEqual([last, last, last - 1, last - 1]);
  expect(sides.runsA).toHaveLength(4);
  expect(sides.runsB).toHaveLength(4);
  expect(sides.stopped).toBeUndefined();
});

test("each run says how long the rest takes, from what the runs before it took", async () => {
  const { made } = await compareWith(2);
  // 5 s of warm-up: planned with 60 s of measuring, made with 1 s.
  expect(made[0]?.label).toBe("compare 1 of 4 (A), 4 min to go");
  expect(made[2]?.label).toBe("compare 3 of 4 (B), 12 s to go");
});

const spoiledAt =
  (...spoiled: readonly number[]) =>
  (run: RunRecord, count: number): RunRecord =>
    spoiled.includes(count)
      ? { ...run, check: { ...run.check, verdict: "generator-limited", reasons: ["late"] } }
      : run;

test("a run whose generator was the bottleneck is run once more, on the same seed, and not counted", async () => {
  const { made, sides } = await compareWith(4, { change: spoiledAt(3, 6) });
  expect(made.map(({ seed }) => seed)).toEqual([7, 7, 8, 8, 8, 9, 9, 9, 10, 10]);
  expect(made[3]?.label).toMatch(/^compare 3 of 8 \(B\) again/);
  expect([sides.runsA.length, sides.runsB.length, sides.stopped]).toEqual([4, 4, undefined]);
});

test("one that is so again ends the comparison", async () => {
  const { made, sides } = await compareWith(8, { change: spoiledAt(3, 4) });
  expect(made).toHaveLength(4);
  expect(sides.stopped).toEqual({
    why: "generator-limited",
    run: 3,
    side: "B",
    reasons: ["late"],
  });
  expect([sides.runsA.length, sides.runsB.length]).toEqual([1, 1]);
});

test("a signal ends it with the runs that are whole", async () => {
  const stop = new AbortController();
  const { sides } = await compareWith(8, {
    signal: stop.signal,
    change: (run, count) => {
      if (count < 5) return run;
      stop.abort();
      return { ...run, partial: true };
    },
  });
  expect(sides.stopped).toEqual({ why: "signal" });
  expect([sides.runsA.length, sides.runsB.length]).toEqual([2, 2]);
});
