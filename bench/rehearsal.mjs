// Does a rehearsal tell what the proxy will do? For each seed and policy file: the p99 that the rehearsal predicts from a
// recorded trace, beside the p99 of the proxy on real sockets before a fleet with the same law of service. The trace is
// another day's: other arrivals, other sizes, the same laws. Ten backends of four workers, one five times slower, 70 % load.
//   node bench/rehearsal.mjs [seeds] [seconds a run] [factor]
// Times are longer by the factor (8: a mean of 80 ms), so that late timers are small beside them: on a machine that
// others keep busy the last column shows how late they are, and 16 is needed.
import { failedCount } from "../packages/cli/dist/load/load-report.js";
import { RehearsalStage } from "../packages/cli/dist/rehearse/rehearsal-stage.testbed.js";

const SEEDS = Number(process.argv[2] ?? 5);
const SECONDS = Number(process.argv[3] ?? 50);
const FACTOR = Number(process.argv[4] ?? 8);
const WITHIN_RATIO = 0.15;

const stage = new RehearsalStage(FACTOR, SECONDS);
try {
  console.log(
    `${SEEDS} seeds, ${SECONDS} s a run at ${stage.ratePerSec.toFixed(0)} requests a second, the first fifth warms up; times x ${FACTOR}`,
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
  stage.close();
}

async function compare(seed) {
  const fleet = await stage.startFleet(seed);
  try {
    const files = stage.writePolicies(fleet.urls);
    const predicted = await stage.rehearse(files, stage.writeTrace(seed + 1000), { runs: 5, seed });
    // Compiled code and open sockets: the first seconds of a process are not what is compared.
    await stage.measure(files[0], fleet, { seed, seconds: 5 });
    const rows = [];
    for (const [i, file] of files.entries()) {
      const found = await measure(file, fleet, seed);
      rows.push(show(seed, stage.policies[i], predicted[i], found));
    }
    return rows;
  } finally {
    await fleet.stop();
  }
}

async function measure(file, fleet, seed) {
  const { measured, service } = await stage.measure(file, fleet, { seed });
  const { replyLagP99Ms } = await fleet.stats();
  return {
    p99Ms: measured.completed.quantile(0.99) / 1000,
    failed: failedCount(measured.ledger) / measured.ledger.planned,
    extra: (service.attempts - service.calls) / service.calls,
    sendLagMs: measured.pacingLag.quantile(0.99) / 1000,
    replyLagMs: replyLagP99Ms,
  };
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
