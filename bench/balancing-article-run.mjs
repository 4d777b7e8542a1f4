// The workload of the balancing article in our simulator: what `balancing-article.mjs` times. Its nine parts are taken in
// turn by as many threads as asked.
//   node bench/balancing-article-run.mjs [threads, default 1]
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { compileLaw, quantileMs, sampleFanOut, seededRng, shareOf, World } from "bobtail/sim";

const queueTimeoutMs = 1000;

function balance(policy, everyMs) {
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
        balance: { policy, load: "outstanding", errorPenalty: false },
        retry: { max: 0 },
        limit: { outstanding: 1_000_000, perEndpoint: 1_000_000 },
      },
      seed: 3,
    },
    { digest: false },
  ).run();
  const [p50, p99, p999] = [0.5, 0.99, 0.999].map((q) => quantileMs(result, q));
  const failed = (100 * result.failedCount) / result.callCount;
  return `${p50.toFixed(1)} ${p99.toFixed(0)} ${p999.toFixed(0)} ${failed.toFixed(2)}% ${(100 * shareOf(result, 0)).toFixed(1)}%`;
}

const draw = compileLaw({
  kind: "stalls",
  law: { kind: "lognormal", mu: 1.3, sigma: 0.4 },
  share: 0.01,
  stall: { kind: "uniform", fromMs: 50, toMs: 150 },
});

function fanOut(delayMs) {
  const rng = seededRng(11);
  const leafMs = () => draw(rng);
  const { latenciesMs, extraRatio } = sampleFanOut({
    trials: 20_000,
    leaves: 100,
    delayMs,
    primaryMs: leafMs,
    backupMs: leafMs,
  });
  return `${latenciesMs[9999].toFixed(1)} ${latenciesMs[19_799].toFixed(1)} ${(100 * extraRatio).toFixed(1)}%`;
}

/** The time that 95 % of leaf calls take, from a sample of them. */
function p95Ms() {
  const rng = seededRng(5);
  const sample = new Float64Array(200_000);
  for (let i = 0; i < sample.length; i++) sample[i] = draw(rng);
  sample.sort();
  return sample[Math.ceil(0.95 * sample.length) - 1];
}

const PARTS = [
  ["round robin", () => balance("round-robin")],
  ["random", () => balance("random")],
  ["least outstanding", () => balance("least")],
  ["least outstanding, stale", () => balance("least", 20)],
  ["two choices", () => balance("two-choices")],
  ["two choices, stale", () => balance("two-choices", 20)],
  ["no hedge", () => fanOut(undefined)],
  ["hedge after p95", () => fanOut(p95Ms())],
  ["hedge after 10 ms", () => fanOut(10)],
];

/** Takes parts until none is left, every other thread from the end: like parts are compiled in one of them only. */
function work(taken, fromEnd, onDone) {
  const [ALL, FROM_START, FROM_END] = [0, 1, 2];
  while (Atomics.add(taken, ALL, 1) < PARTS.length) {
    const i = fromEnd
      ? PARTS.length - 1 - Atomics.add(taken, FROM_END, 1)
      : Atomics.add(taken, FROM_START, 1);
    onDone(i, PARTS[i][1]());
  }
}

if (isMainThread) {
  const threads = Number(process.argv[2] ?? 1);
  const taken = new Int32Array(new SharedArrayBuffer(12));
  const lines = new Map();
  const done = (i, line) => {
    lines.set(i, line);
    if (lines.size < PARTS.length) return;
    for (const [at, [name]] of PARTS.entries()) console.log(`${name.padEnd(26)} ${lines.get(at)}`);
  };
  for (let i = 1; i < threads; i++) {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { taken, fromEnd: i % 2 === 1 },
    });
    worker.on("message", ([part, line]) => done(part, line));
  }
  work(taken, false, done);
} else work(workerData.taken, workerData.fromEnd, (i, line) => parentPort.postMessage([i, line]));
