// The public benchmark of hedged clients: closed loop, 20 workers, 50,000 calls, lognormal mean 5 ms (sd 2 ms),
// 5 % of calls ten times slower, one address that stands for several servers. With the hedge chosen from a 10 % budget.
//   node bench/tail.mjs [calls]
import { createClient } from "bobtail";
import { Histogram, seededRng } from "bobtail/engine";

const CALLS = Number(process.argv[2] ?? 50_000);
const WORKERS = 20;
const SIGMA = Math.sqrt(Math.log(1 + (2 / 5) ** 2));
const MU = Math.log(5) - SIGMA ** 2 / 2;

function law(seed) {
  const rng = seededRng(seed);
  const normal = () =>
    Math.sqrt(-2 * Math.log(1 - rng.next())) * Math.cos(2 * Math.PI * rng.next());
  return () => Math.exp(MU + SIGMA * normal()) * (rng.next() < 0.05 ? 10 : 1);
}

async function run(options) {
  const latencies = new Histogram();
  const serviceMs = law(7);
  const client = createClient({
    endpoints: [{ url: "http://127.0.0.1:1", virtual: true }],
    ...options,
  });
  const callee = (_, attempt) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, serviceMs());
      attempt.onCancel(() => clearTimeout(timer));
    });
  let left = CALLS;
  const worker = async () => {
    while (left-- > 0) {
      const startMs = performance.now();
      await client.call(callee, { idempotent: true });
      latencies.record((performance.now() - startMs) * 1000);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  const stats = client.stats();
  await client.close();
  return {
    p50: latencies.quantile(0.5) / 1000,
    p99: latencies.quantile(0.99) / 1000,
    p999: latencies.quantile(0.999) / 1000,
    extra: (stats.attempts - stats.calls) / stats.calls,
  };
}

const rows = {
  "plain client": await run({ retry: { max: 0 } }),
  "hedge: auto, budget 10 %": await run({
    hedge: { afterMs: "auto" },
    budget: { extraRatio: 0.1 },
  }),
};
const base = rows["plain client"];
console.log(`${CALLS} calls, ${WORKERS} workers, lognormal 5 ms, 5 % of calls ten times slower`);
console.log(
  `${"".padEnd(26)}${"p50 ms".padStart(9)}${"p99 ms".padStart(9)}${"p99.9 ms".padStart(10)}${"extra".padStart(8)}   p99 / p99.9 of plain`,
);
for (const [name, row] of Object.entries(rows)) {
  console.log(
    `${name.padEnd(26)}${row.p50.toFixed(1).padStart(9)}${row.p99.toFixed(1).padStart(9)}${row.p999.toFixed(1).padStart(10)}` +
      `${(row.extra * 100).toFixed(1).padStart(7)}%   ${(row.p99 / base.p99).toFixed(2)} / ${(row.p999 / base.p999).toFixed(2)}`,
  );
}
