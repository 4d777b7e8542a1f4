// What it costs to record one latency, beside Node's own histogram and hdr-histogram-js.
//   node bench/histogram.mjs
import { createHistogram } from "node:perf_hooks";
import { Histogram, seededRng } from "bobtail/engine";
import * as hdr from "hdr-histogram-js";
import { compare, nsPerOp, table } from "./harness.mjs";

const COUNT = 1_000_000;
const rng = seededRng(3);
const normal = () => Math.sqrt(-2 * Math.log(1 - rng.next())) * Math.cos(2 * Math.PI * rng.next());
// Lognormal, median 2 ms, with 0.3 % of stalls, in microseconds.
const values = Float64Array.from({ length: COUNT }, () =>
  Math.ceil(2000 * Math.exp(0.5 * normal()) + (rng.next() < 0.003 ? 400_000 * rng.next() : 0)),
);

const recordInto = (record) => () =>
  nsPerOp(COUNT, () => {
    for (let i = 0; i < COUNT; i++) record(values[i]);
  });
const own = new Histogram();
const nodes = createHistogram({ figures: 3 });
const hdrJs = hdr.build({ numberOfSignificantValueDigits: 3, bitBucketSize: 32 });
await hdr.initWebAssembly();
const hdrWasm = hdr.build({
  numberOfSignificantValueDigits: 3,
  bitBucketSize: 32,
  useWebAssembly: true,
});

const costs = await compare({
  "bobtail, 128 a octave": recordInto((v) => own.record(v)),
  "perf_hooks createHistogram": recordInto((v) => nodes.record(v)),
  "hdr-histogram-js, WASM": recordInto((v) => hdrWasm.recordValue(v)),
  "hdr-histogram-js": recordInto((v) => hdrJs.recordValue(v)),
});
table("Record one value", costs);

const sorted = values.slice().sort();
console.log("\nError against an exact sort");
for (const q of [0.5, 0.99, 0.999, 0.9999]) {
  const exact = sorted[Math.ceil(q * COUNT) - 1];
  console.log(`  p${q * 100}: ${(((own.quantile(q) - exact) / exact) * 100).toFixed(3)} %`);
}
