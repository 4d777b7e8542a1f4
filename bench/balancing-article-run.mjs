// The workload of the balancing article in our simulator: what `balancing-article.mjs` times.
import { compileLaw, quantileMs, sampleFanOut, seededRng, shareOf, World } from "bobtail/sim";

const counted = { load: "outstanding", errorPenalty: false };
const queueTimeoutMs = 1000;

for (const [name, policy, everyMs] of [
  ["round robin", "round-robin"],
  ["random", "random"],
  ["least outstanding", "least"],
  ["least outstanding, stale", "least", 20],
  ["two choices", "two-choices"],
  ["two choices, stale", "two-choices", 20],
]) {
  const result = new World(
    {
      servers: [
        { workers: 4, slowdown: 5, queueTimeoutMs },
        { count: 9, workers: 4, queueTimeoutMs },
      ],
      size: { kind: "exponential", meanMs: 10 },
      arrivals: { kind: "poisson", load: 0.7 },
      requests: 300_000,
      warmUpRatio: 0,
      reports: everyMs === undefined ? undefined : { everyMs },
      policy: {
        balance: { policy, ...counted },
        retry: { max: 0 },
        limit: { outstanding: 1_000_000, perEndpoint: 1_000_000 },
      },
      seed: 3,
    },
    { digest: false },
  ).run();
  const [p50, p99, p999] = [0.5, 0.99, 0.999].map((q) => quantileMs(result, q));
  const failed = (100 * result.failedCount) / result.callCount;
  console.log(
    `${name.padEnd(26)} ${p50.toFixed(1)} ${p99.toFixed(0)} ${p999.toFixed(0)} ${failed.toFixed(2)}% ${(100 * shareOf(result, 0)).toFixed(1)}%`,
  );
}

const draw = compileLaw({
  kind: "stalls",
  law: { kind: "lognormal", mu: 1.3, sigma: 0.4 },
  share: 0.01,
  stall: { kind: "uniform", fromMs: 50, toMs: 150 },
});
const sampleRng = seededRng(5);
const sample = Float64Array.from({ length: 200_000 }, () => draw(sampleRng)).sort();
const p95 = sample[Math.ceil(0.95 * sample.length) - 1];
for (const [name, delayMs] of [
  ["no hedge", undefined],
  ["hedge after p95", p95],
  ["hedge after 10 ms", 10],
]) {
  const rng = seededRng(11);
  const leafMs = () => draw(rng);
  const { latenciesMs, extraRatio } = sampleFanOut({
    trials: 20_000,
    leaves: 100,
    delayMs,
    primaryMs: leafMs,
    backupMs: leafMs,
  });
  console.log(
    `${name.padEnd(26)} ${latenciesMs[9999].toFixed(1)} ${latenciesMs[19_799].toFixed(1)} ${(100 * extraRatio).toFixed(1)}%`,
  );
}
