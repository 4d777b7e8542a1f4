import { type Rng, seededRng } from "bobtail/engine";
import { expect, test, vi } from "vitest";
import { type Comparison, compareRuns } from "./compare-runs.ts";
import type { QuantityName, RunFigures } from "./quantity.ts";
import { rankSumPValue } from "./rank-sum.ts";
import {
  type SimulatedService,
  simulateEveryRequest,
  simulateRun,
} from "./simulated-run.testbed.ts";
import { DEFAULT_THRESHOLDS } from "./threshold.ts";
import type { Verdict } from "./verdict.ts";

/** The figures of docs/compare.md: `BOBTAIL_COMPARE_PAIRS=10000 npx vitest run packages/cli/src/load/compare/compare-gate.test.ts`. */
const PAIRS = Number(process.env.BOBTAIL_COMPARE_PAIRS ?? 1_000);
const FEW = Math.max(200, PAIRS / 5);
const RUNS = 8;
// Of the large version; the usual one takes seconds.
vi.setConfig({ testTimeout: Math.max(60_000, 100 * PAIRS) });

const STEADY: SimulatedService = { medianMs: 10, shape: 0.25 };
const STALLED: SimulatedService = { ...STEADY, stalls: { perRun: 6, fromMs: 50, toMs: 200 } };
/** Everything takes 20 % longer, the stalls too. */
const STALLED_LONGER: SimulatedService = {
  medianMs: 12,
  shape: 0.25,
  stalls: { perRun: 6, fromMs: 60, toMs: 240 },
};
/** The same p50; the p99, which is 99^shape medians, 20 % longer. */
const LONGER_TAIL: SimulatedService = {
  ...STEADY,
  shape: STEADY.shape + Math.log(1.2) / Math.log(99),
};

function side(service: SimulatedService, runs: number, rng: Rng): RunFigures[] {
  return Array.from({ length: runs }, () => simulateRun(service, rng));
}

function compareMany(a: SimulatedService, b: SimulatedService, pairs: number): Comparison[] {
  const rng = seededRng(20_261_201);
  return Array.from({ length: pairs }, () => compareRuns(side(a, RUNS, rng), side(b, RUNS, rng)));
}

function verdictsOf(all: readonly Comparison[], name: QuantityName): Verdict[] {
  return all.flatMap(({ compared }) =>
    compared.filter((one) => one.name === name).map(({ verdict }) => verdict),
  );
}

function shareOf(verdicts: readonly Verdict[], kind: Verdict["kind"]): number {
  return verdicts.filter((verdict) => verdict.kind === kind).length / verdicts.length;
}

/** Comparisons that call at least one quantity better or worse. */
function calledRatio(all: readonly Comparison[]): number {
  const isCall = ({ kind }: Verdict): boolean => kind === "worse" || kind === "better";
  return (
    all.filter(({ compared }) => compared.some((one) => isCall(one.verdict))).length / all.length
  );
}

function record(what: string, ratio: number): void {
  console.log(`${what}: ${(100 * ratio).toFixed(1)} %`);
}

test("a quick simulated run has the percentiles of one whose requests are all drawn", () => {
  const rng = seededRng(5);
  const quick = side(STALLED, 60, rng);
  const whole = quick.map(() => simulateEveryRequest(STALLED, rng));
  for (const [i, name] of (["p50", "p90", "p99", "p99.9"] as const).entries()) {
    const [one, other] = [quick.map((run) => run[name] as number), whole.map((run) => run[i] ?? 0)];
    expect(rankSumPValue(one, other), name).toBeGreaterThan(0.001);
    // The spread as well as the place.
    const middle = [...one, ...other].sort((x, y) => x - y)[60] as number;
    const away = (values: number[]): number[] => values.map((value) => Math.abs(value - middle));
    expect(rankSumPValue(away(one), away(other)), name).toBeGreaterThan(0.001);
  }
});

test.each([
  ["stalls of 50-200 ms, one per 10 s", STALLED, PAIRS],
  ["stalls, and one request in 1,000 fails", { ...STALLED, failedRatio: 0.001 }, FEW],
])(
  "A against itself, 8 + 8 runs with %s: a difference is called in at most 8 %",
  (what, service, pairs) => {
    const all = compareMany(service, service, pairs);
    const called = calledRatio(all);
    record(`A/A, ${what}: a difference is called`, called);
    expect(called).toBeLessThanOrEqual(0.08);
    // Without the threshold too: chance alone passes Holm's level that rarely.
    const significant = all.filter(({ compared }) => compared.some((one) => one.adjustedP <= 0.05));
    record(`A/A, ${what}: some p-value passes Holm's level`, significant.length / all.length);
    expect(significant.length / all.length).toBeLessThanOrEqual(0.08);
  },
);

test("independent tails: a true 20 % change of the p99 is found with 8 + 8 runs in at least 80 %", () => {
  const all = compareMany(STEADY, LONGER_TAIL, FEW);
  const found = shareOf(verdictsOf(all, "p99"), "worse");
  record("p99 20 % longer, independent: worse", found);
  expect(found).toBeGreaterThanOrEqual(0.8);
  const same = shareOf(verdictsOf(all, "p50"), "no-difference");
  record("the p50 stayed: no difference", same);
  expect(same).toBeGreaterThanOrEqual(0.9);
});

test("no difference is said of a change as large as the threshold in at most 5 %", () => {
  const all = compareMany(STEADY, { ...STEADY, medianMs: 10.5 }, FEW);
  const wrong = all.filter(({ compared }) =>
    compared.some(
      ({ name, threshold, verdict }) =>
        threshold <= 0.05 && name.startsWith("p") && verdict.kind === "no-difference",
    ),
  );
  record("5 % longer: no difference larger than 5 %", wrong.length / all.length);
  expect(wrong.length / all.length).toBeLessThanOrEqual(0.05);
});

test("under stalls 8 + 8 runs cannot tell a 20 % longer p99, and say about how many would", () => {
  const verdicts = verdictsOf(compareMany(STALLED, STALLED_LONGER, FEW), "p99");
  const open = shareOf(verdicts, "cannot-tell");
  record("p99 20 % longer, stalls: cannot tell", open);
  expect(open).toBeGreaterThanOrEqual(0.6);
  expect(shareOf(verdicts, "no-difference")).toBe(0);
  const more = verdicts.flatMap((one) => (one.kind === "cannot-tell" ? [one.moreRuns ?? 0] : []));
  more.sort((a, b) => a - b);
  expect(more.length).toBeGreaterThan(0);
  const at = (q: number): number => more[Math.floor(q * more.length)] ?? 0;
  const [few, half, many] = [at(0.1), at(0.5), at(0.9)];
  console.log(`more runs a side it asks for, for 5 %: ${half} (${few} to ${many} in four of five)`);
  // Of the same order each time: what is said does not hang on luck.
  expect(many / few).toBeLessThan(4);
});

test("as many runs as it asks for under stalls do tell", () => {
  const quantities = ["p99"] as const;
  const changeRatio = { ...DEFAULT_THRESHOLDS.changeRatio, p99: 0.2 };
  const options = { quantities, thresholds: { ...DEFAULT_THRESHOLDS, changeRatio } };
  const rng = seededRng(8);
  const asked = Array.from({ length: 100 }, () => {
    const [one] = compareRuns(side(STALLED, RUNS, rng), side(STALLED, RUNS, rng), options).compared;
    return one?.verdict.kind === "cannot-tell" ? RUNS + (one.verdict.moreRuns ?? 0) : RUNS;
  }).sort((a, b) => a - b);
  const runs = asked[50] as number;
  let found = 0;
  for (let i = 0; i < 25; i++) {
    const [one] = compareRuns(side(STALLED, runs, rng), side(STALLED_LONGER, runs, rng), {
      ...options,
      thresholds: DEFAULT_THRESHOLDS,
    }).compared;
    if (one?.verdict.kind === "worse") found++;
  }
  record(`stalls, 20 % of the p99: with the ${runs} runs a side asked for, found`, found / 25);
  expect(found / 25).toBeGreaterThanOrEqual(0.7);
});
