// One run of the load engine; prints what the benchmark reads.
//   node [--expose-gc] load-engine.mjs URL '{"ratePerSec": 1000, ...}' [seconds between looks at the memory]
import { startLoad } from "../../packages/cli/dist/load/load.js";

const [url, options, everySeconds] = process.argv.slice(2);
const run = startLoad({ url, ...JSON.parse(options) });
const memory = [];
const ticker =
  everySeconds === undefined
    ? undefined
    : setInterval(() => {
        globalThis.gc?.();
        const { heapUsed, external, rss } = process.memoryUsage();
        memory.push([run.measured.ledger.sent, heapUsed + external, rss]);
      }, everySeconds * 1000);
const { measured, runMs, check } = await run.report;
clearInterval(ticker);
const { all, pacingLag, ledger } = measured;
const quantiles = (histogram) =>
  Object.fromEntries([0.5, 0.9, 0.95, 0.99, 0.999].map((q) => [q, histogram.quantile(q) / 1000]));
console.log(
  JSON.stringify({
    ledger,
    ratePerSec: (ledger.ok / runMs) * 1000,
    lagMs: quantiles(pacingLag),
    responseMs: quantiles(all),
    check,
    memory,
  }),
);
