// Does a rehearsal tell what the proxy will do? For each seed and policy file: the p99 that the rehearsal predicts from a
// recorded trace, beside the p99 of the proxy on real sockets before a fleet with the same law of service. The trace is
// another day's: other arrivals, other sizes, the same laws. Ten backends of four workers, one five times slower, 70 % load.
//   node bench/rehearsal.mjs [seeds] [seconds a run] [factor]
// Times are longer by the factor (8: a mean of 80 ms), so that late timers are small beside them: on a machine that
// others keep busy the last column shows how late they are, and 16 is needed.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRng } from "bobtail/engine";
import { startFleet } from "../packages/cli/dist/fleet/fleet.js";
import { capacityPerSec } from "../packages/cli/dist/fleet/fleet-options.js";
import { drawServiceMs } from "../packages/cli/dist/fleet/service-law.js";
import { startLoad } from "../packages/cli/dist/load/load.js";
import { failedCount } from "../packages/cli/dist/load/load-report.js";
import { loadPolicy } from "../packages/cli/dist/policy-file/load-policy.js";
import { startProxy } from "../packages/cli/dist/proxy/start-proxy.js";
import { readCandidates } from "../packages/cli/dist/rehearse/candidates.js";
import { readTrace } from "../packages/cli/dist/rehearse/read-trace.js";
import { rehearseAll } from "../packages/cli/dist/rehearse/rehearsal.js";
import { createPalette } from "../packages/cli/dist/terminal/palette.js";

const SEEDS = Number(process.argv[2] ?? 5);
const SECONDS = Number(process.argv[3] ?? 50);
const FACTOR = Number(process.argv[4] ?? 8);
const WARM_UP_RATIO = 0.2;
const WITHIN_RATIO = 0.15;
const QUEUE_LIMIT_MS = 1000 * FACTOR;
const BACKENDS = Array.from({ length: 10 }, (_, i) => ({
  workers: 4,
  law: { meanMs: 10 * FACTOR, slowFactor: i === 0 ? 5 : 1 },
}));
const RATE = 0.7 * capacityPerSec(BACKENDS);

const POLICIES = {
  "round-robin": `
    balance: { policy: round-robin, errorPenalty: false }
    retry: { max: 0 }
    limit: { outstanding: 16384, perEndpoint: 8192 }`,
  "two-choices": `
    balance: { load: outstanding }
    retry: { max: 0 }`,
  hedged: `
    balance: { policy: least }
    hedge: auto
    budget: { extra: 5% }`,
};

const folder = mkdtempSync(join(tmpdir(), "bobtail-rehearsal-"));
try {
  console.log(
    `${SEEDS} seeds, ${SECONDS} s a run at ${RATE.toFixed(0)} requests a second, the first fifth warms up; times x ${FACTOR}`,
  );
  console.log(
    "seed policy        predicted p99 [95 %]       measured     off   failed pred/meas   extra pred/meas   late p99: send/reply",
  );
  const rows = [];
  for (let seed = 1; seed <= SEEDS; seed++) rows.push(...(await compare(seed)));
  const worst = Math.max(...rows.map(({ off }) => Math.abs(off)));
  const within = rows.filter(({ off }) => Math.abs(off) <= WITHIN_RATIO).length;
  console.log(
    `${within} of ${rows.length} within ${WITHIN_RATIO * 100} %, the worst ${(worst * 100).toFixed(1)} % off`,
  );
  process.exitCode = within === rows.length ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}

async function compare(seed) {
  const fleet = await startFleet({ backends: BACKENDS, queueLimitMs: QUEUE_LIMIT_MS, seed });
  try {
    const trace = await readTrace(record(seed + 1000));
    const rows = [];
    for (const [name, body] of Object.entries(POLICIES)) {
      const file = join(folder, `${name}.yaml`);
      const endpoints = fleet.urls.map((url) => `\n      - ${url}`).join("");
      writeFileSync(file, `services:\n  fleet:\n    endpoints:${endpoints}${body}\n`);
      // Compiled code and open sockets: the first seconds of a process are not what is compared.
      if (rows.length === 0) await measure(file, fleet, seed, 5);
      const [predicted] = await rehearseAll(
        readCandidates([file], { palette: createPalette(false) }),
        trace,
        {
          workers: 4,
          slow: new Map([[0, 5]]),
          queueTimeoutMs: QUEUE_LIMIT_MS,
          copies: "independent",
          cancel: "queued",
          warmUpRatio: WARM_UP_RATIO,
          runs: 5,
          seed,
        },
      );
      rows.push(show(seed, name, predicted, await measure(file, fleet, seed)));
    }
    return rows;
  } finally {
    await fleet.stop();
  }
}

/** A trace as somebody would have recorded it: when each request came, and the work that it was. */
function record(seed) {
  const rng = seededRng(seed);
  const arrivals = rng.split("arrivals");
  const sizes = rng.split("sizes");
  const law = { meanMs: 10 * FACTOR, slowFactor: 1 };
  let text = "at_ms,service_ms\n";
  for (let atMs = 0; atMs < SECONDS * 1000; ) {
    atMs += (-1000 / RATE) * Math.log(1 - arrivals.next());
    text += `${atMs.toFixed(3)},${drawServiceMs(law, sizes).toFixed(3)}\n`;
  }
  const file = join(folder, "trace.csv");
  writeFileSync(file, text);
  return file;
}

async function measure(file, fleet, seed, seconds = SECONDS) {
  await fleet.reset();
  const reading = loadPolicy(file);
  const proxy = await startProxy({
    listeners: [{ host: "127.0.0.1", port: 0, service: "fleet" }],
    services: reading.config.services,
  });
  try {
    const { host, port } = proxy.addresses[0];
    const { measured } = await startLoad({
      url: `http://${host}:${port}/`,
      ratePerSec: RATE,
      warmupMs: seconds * 1000 * WARM_UP_RATIO,
      durationMs: seconds * 1000 * (1 - WARM_UP_RATIO),
      timeoutMs: 60_000,
      seed,
    }).report;
    const { calls, attempts } = proxy.stats().services.fleet;
    const { replyLagP99Ms } = await fleet.stats();
    return {
      p99Ms: measured.completed.quantile(0.99) / 1000,
      failed: failedCount(measured.ledger) / measured.ledger.planned,
      extra: (attempts - calls) / calls,
      sendLagMs: measured.pacingLag.quantile(0.99) / 1000,
      replyLagMs: replyLagP99Ms,
    };
  } finally {
    await proxy.close();
  }
}

function show(seed, name, predicted, measured) {
  const { mean, low, high } = predicted.latencyMs.p99;
  const off = mean / measured.p99Ms - 1;
  const percent = (ratio) => `${(ratio * 100).toFixed(1)} %`;
  console.log(
    [
      String(seed).padStart(4),
      name.padEnd(12),
      `${mean.toFixed(0)} [${low.toFixed(0)}, ${high.toFixed(0)}] ms`.padStart(24),
      `${measured.p99Ms.toFixed(0)} ms`.padStart(10),
      `${off > 0 ? "+" : ""}${percent(off)}`.padStart(8),
      `${percent(predicted.failedRatio.mean)} / ${percent(measured.failed)}`.padStart(16),
      `${percent(predicted.extraRatio.mean)} / ${percent(measured.extra)}`.padStart(16),
      `${measured.sendLagMs.toFixed(1)} / ${measured.replyLagMs.toFixed(1)} ms`.padStart(18),
    ].join("  "),
  );
  return { off };
}
