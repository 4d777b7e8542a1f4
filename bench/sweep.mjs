// How much faster a sweep is on two threads than on one, start-up of the command included. Wall-clock time needs two idle
// cores; the CPU beside it does not: what the second thread costs more than the first alone.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "./harness.mjs";

const COMMAND = fileURLToPath(new URL("../packages/cli/bin/bobtail.js", import.meta.url));
const ROUNDS = 5;
const SCENARIO = `
servers: [{ count: 9, workers: 4 }, { workers: 4, slowdown: 5 }]
size: { kind: exponential, meanMs: 10 }
arrivals: { kind: poisson, load: 0.7 }
requests: 400000
policy: { balance: { policy: two-choices }, hedge: { afterMs: 60 }, budget: { extraRatio: 0.05 } }
runs: 4
`;

const folder = mkdtempSync(join(tmpdir(), "bobtail-sweep-"));
const file = join(folder, "world.yaml");
writeFileSync(file, SCENARIO);

/** Loaded into the command: the CPU of all its threads, on stderr. */
const TELL_CPU = `data:text/javascript,${encodeURIComponent(`
import { isMainThread } from "node:worker_threads";
if (isMainThread) process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  process.stderr.write("cpu_ms " + (user + system) / 1000);
});`)}`;

function run(workers) {
  const args = [COMMAND, "sim", file, "--sweep", "arrivals.load=0.2..0.8:0.2", "--json"];
  const start = performance.now();
  const all = ["--import", TELL_CPU, ...args, "--workers", String(workers)];
  const { status, stdout, stderr } = spawnSync(process.execPath, all, {
    encoding: "utf8",
    maxBuffer: 1e8,
  });
  if (status !== 0) throw new Error(`the sweep ended with ${status}`);
  return {
    ms: performance.now() - start,
    cpuMs: Number(/cpu_ms ([\d.]+)/.exec(stderr)?.[1]),
    stdout,
  };
}

try {
  console.log(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(2)} before the first round`);
  const times = { one: [], two: [], cpu: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const one = run(1);
    const two = run(2);
    if (one.stdout !== two.stdout) throw new Error("the results differ");
    times.one.push(one.ms);
    times.two.push(two.ms);
    times.cpu.push(two.cpuMs / one.cpuMs);
    console.log(
      `round ${round + 1}: one thread ${one.ms.toFixed(0)} ms, two ${two.ms.toFixed(0)} ms (CPU ${one.cpuMs.toFixed(0)}, ${two.cpuMs.toFixed(0)}), ${(one.ms / two.ms).toFixed(2)} times as fast`,
    );
  }
  const ratio = median(times.one) / median(times.two);
  console.log(
    `16 runs of 400,000 requests: ${ratio.toFixed(2)} times as fast on two threads (wanted: 1.6), for ${median(times.cpu).toFixed(2)} times the CPU`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
