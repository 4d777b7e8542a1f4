import { Histogram, type Rng, seededRng } from "bobtail/engine";
import { expect, test, vi } from "vitest";
import { blockBootstrap } from "./block-bootstrap.ts";
import type { RunBlock } from "./run-figures.ts";
import {
  drawMs,
  drawStalls,
  REQUESTS,
  RUN_MS,
  type SimulatedService,
} from "./simulated-run.testbed.ts";

const BLOCK_MS = 5_000;
/** The figures of docs/compare.md: `BOBTAIL_COMPARE_PAIRS=1000`. */
const PAIRS = Math.min(1_000, Number(process.env.BOBTAIL_COMPARE_PAIRS ?? 120));
// Of the large version; the usual one takes seconds.
vi.setConfig({ testTimeout: Math.max(60_000, 400 * PAIRS) });

const STEADY: SimulatedService = { medianMs: 10, shape: 0.25 };
const STALLED: SimulatedService = { ...STEADY, stalls: { perRun: 6, fromMs: 50, toMs: 200 } };

/** A whole simulated run, every request drawn, in stretches of five seconds. */
function simulateBlocks(service: SimulatedService, rng: Rng): RunBlock[] {
  const stalls = drawStalls(service, rng);
  const blocks = Array.from({ length: RUN_MS / BLOCK_MS }, () => ({
    all: new Histogram({ subBucketsPerOctave: 32, maxValue: 4_000_000 }),
    infinite: 0,
  }));
  for (let i = 0; i < REQUESTS; i++) {
    const atMs = rng.next() * RUN_MS;
    const stall = stalls.find((one) => atMs >= one.atMs && atMs < one.atMs + one.lengthMs);
    const waitMs = stall === undefined ? 0 : stall.atMs + stall.lengthMs - atMs;
    blocks[Math.floor(atMs / BLOCK_MS)]?.all.record((waitMs + drawMs(service, rng)) * 1_000);
  }
  return blocks;
}

test.each([
  ["independent tails", STEADY],
  ["stalls of 50-200 ms, one per 10 s", STALLED],
])(
  "%s: the interval of two runs of one service excludes none now and then, and not in half of the pairs",
  (what, service) => {
    const rng = seededRng(11);
    const quantiles = [0.9, 0.99, 0.999];
    const missed = quantiles.map(() => 0);
    for (let i = 0; i < PAIRS; i++) {
      const [a, b] = [simulateBlocks(service, rng), simulateBlocks(service, rng)];
      const found = blockBootstrap(a, b, { quantiles, resamples: 200, rng });
      for (const [j, { low, high }] of found.entries())
        if (low > 0 || high < 0) missed[j] = (missed[j] ?? 0) + 1;
    }
    for (const [j, quantile] of quantiles.entries()) {
      const ratio = (missed[j] ?? 0) / PAIRS;
      console.log(`${what}, p${100 * quantile}: missed ${(100 * ratio).toFixed(1)} %`);
      expect(ratio).toBeGreaterThan(0);
      expect(ratio).toBeLessThanOrEqual(0.18);
    }
  },
);

function blockOf(ms: number, infinite: number = 0): RunBlock {
  const all = new Histogram();
  for (let i = 0; i < 100 - infinite; i++) all.record(ms * 1_000);
  return { all, infinite };
}

test("a run twice as long in every stretch is +100 %, whatever is drawn", () => {
  const rng = seededRng(1);
  const [a, b] = [[10, 10, 10].map((ms) => blockOf(ms)), [20, 20, 20].map((ms) => blockOf(ms))];
  const [found] = blockBootstrap(a, b, { quantiles: [0.5], resamples: 100, rng });
  expect(found?.low).toBeCloseTo(1, 1);
  expect(found?.high).toBeCloseTo(1, 1);
});

test("failed requests are infinite, and two percentiles among them may differ by anything", () => {
  const rng = seededRng(1);
  const [sound, sick] = [
    [blockOf(10), blockOf(10)],
    [blockOf(10, 20), blockOf(10, 20)],
  ];
  const options = { quantiles: [0.9], resamples: 100, rng };
  expect(blockBootstrap(sound, sick, options)[0]).toMatchObject({ low: Infinity, high: Infinity });
  expect(blockBootstrap(sick, sick, options)[0]).toMatchObject({ low: -1, high: Infinity });
});
