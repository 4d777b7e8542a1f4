// What the load generator itself costs: CPU a request beside other generators, in interleaved rounds against the same
// server (nginx where it is installed); how late its requests leave; whether its memory grows with the run.
//   node bench/load.mjs [rounds] [seconds a round] [seconds of the memory run]
// wrk and nginx take part where they are found on the PATH.
import { fork, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, table } from "./harness.mjs";
import { answering, freePort } from "./local-port.mjs";

// autocannon comes with the bench.
process.env.PATH += `:${fileURLToPath(new URL("../node_modules/.bin", import.meta.url))}`;

const ROUNDS = Number(process.argv[2] ?? 5);
const SECONDS = Number(process.argv[3] ?? 4);
const MEMORY_SECONDS = Number(process.argv[4] ?? 120);
const LOOK_SECONDS = 2;
const CONNECTIONS = 50;
const GOAL_PER_SEC = 30_000;
const subject = (name) => fileURLToPath(new URL(`subjects/${name}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bobtail-bench-"));
const children = [];

try {
  const { url, name } = await startServer();
  await capacity(url, name);
  lag(url);
  memory(url);
} finally {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

/** CPU a request, start-up of the process included, and how many of them fit into a second of one core. */
async function capacity(url, server) {
  const contestants = generators(url);
  const costs = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  const rates = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, { command, read }] of Object.entries(contestants)) {
      const { stdout, cpuSeconds } = timed(command);
      const { requests, ratePerSec } = read(stdout);
      costs[name].push((cpuSeconds * 1e6) / requests);
      rates[name].push(ratePerSec);
    }
  }
  const medians = Object.fromEntries(Object.entries(costs).map(([n, list]) => [n, median(list)]));
  table(
    `CPU a request, ${CONNECTIONS} connections to ${server}, median of ${ROUNDS} rounds of ${SECONDS} s`,
    medians,
    { unit: "us" },
  );
  console.log("\nrequests a second that one core has time for, and those of the median round");
  for (const [name, cost] of Object.entries(medians))
    console.log(
      `  ${name.padEnd(34)} ${(1e6 / cost).toFixed(0).padStart(8)} ${median(rates[name]).toFixed(0).padStart(8)}`,
    );
}

function generators(url) {
  const requests = GOAL_PER_SEC * SECONDS;
  const engine = (options) => ({
    command: [process.execPath, subject("load-engine.mjs"), url, JSON.stringify(options)],
    read: (text) => {
      const { ledger, ratePerSec } = JSON.parse(text);
      return { requests: ledger.ok, ratePerSec };
    },
  });
  const run = { ratePerSec: GOAL_PER_SEC, durationMs: SECONDS * 1000, connections: CONNECTIONS };
  const all = {
    [`bobtail load, ${GOAL_PER_SEC} a second`]: engine(run),
    "the same, paced by timers": engine({ ...run, pacing: "timer" }),
    "undici dispatch, closed loop": {
      ...engine({}),
      command: [process.execPath, subject("load-undici.mjs"), url, requests, CONNECTIONS],
    },
  };
  if (isInstalled("autocannon"))
    all["autocannon, closed loop"] = {
      command: ["autocannon", "-c", CONNECTIONS, "-d", SECONDS, "--json", url],
      read: (text) => {
        const { requests: counts } = JSON.parse(text);
        return { requests: counts.total, ratePerSec: counts.average };
      },
    };
  if (isInstalled("wrk"))
    all["wrk, closed loop"] = {
      command: ["wrk", "-t", 1, "-c", CONNECTIONS, "-d", `${SECONDS}s`, url],
      read: (text) => ({
        requests: Number(/(\d+) requests in/.exec(text)[1]),
        ratePerSec: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)[1]),
      }),
    };
  return all;
}

/** How late requests leave at 1,000 a second. */
function lag(url) {
  console.log(`\nlate by at 1,000 a second, median of ${ROUNDS} rounds of ${SECONDS} s`);
  const late = { thread: [], timer: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [pacing, list] of Object.entries(late)) {
      const options = { ratePerSec: 1000, durationMs: SECONDS * 1000, warmupMs: 1000, pacing };
      list.push(runEngine(url, options).lagMs);
    }
  }
  for (const [pacing, list] of Object.entries(late)) {
    const show = (q) => `${median(list.map((lagMs) => lagMs[q])).toFixed(2)} ms`;
    const goal = pacing === "thread" ? "   budget of the p99 1.50 ms" : "";
    console.log(`  ${pacing.padEnd(8)} p50 ${show(0.5)}   p99 ${show(0.99)}${goal}`);
  }
}

/** A line through what is in use after each collection, once everything is warm. */
function memory(url) {
  // One interval: those of a long run are at most 1,024, of a few hundred bytes each, and would look like growth in a short one.
  const durationMs = MEMORY_SECONDS * 1000;
  const options = { ratePerSec: 2000, durationMs, intervalMs: durationMs };
  const { memory: looks } = runEngine(url, options, [LOOK_SECONDS], ["--expose-gc"]);
  const steady = looks.filter((_, i) => i >= looks.length / 2);
  console.log(
    `\nmemory over ${steady.at(-1)[0] - steady[0][0]} requests, after half of the run as warm-up`,
  );
  for (const [i, name] of ["heap, collected", "whole process"].entries()) {
    const { slope, error } = fit(steady.map((look) => [look[0] / 1000, look[i + 1]]));
    const mib = (steady.at(-1)[i + 1] / 2 ** 20).toFixed(1);
    console.log(
      `  ${name.padEnd(16)} ${slope.toFixed(0).padStart(7)} +- ${(2 * error).toFixed(0)} bytes per 1,000 requests, ${mib} MiB at the end`,
    );
  }
}

/** Least squares, and the standard error of the slope. */
function fit(points) {
  const n = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / n;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / n;
  const sxx = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / sxx;
  const rest = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, error: Math.sqrt(rest / (n - 2) / sxx) };
}

function runEngine(url, options, rest = [], flags = []) {
  const args = [...flags, subject("load-engine.mjs"), url, JSON.stringify(options), ...rest];
  const { stdout, status } = spawnSync(process.execPath, args.map(String), {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error("the load engine failed");
  return JSON.parse(stdout);
}

/** User and system time of a command and its threads, as the shell counts it. */
function timed(command) {
  const script = 'TIMEFORMAT="cpu %U %S"; time "$@"';
  const { stdout, stderr, status } = spawnSync(
    "bash",
    ["-c", script, "bash", ...command.map(String)],
    {
      encoding: "utf8",
      maxBuffer: 2 ** 26,
    },
  );
  const times = /cpu ([\d.]+) ([\d.]+)/.exec(stderr);
  if (status !== 0 || times === null) throw new Error(`${command[0]} failed: ${stderr}`);
  return { stdout, cpuSeconds: Number(times[1]) + Number(times[2]) };
}

function isInstalled(program) {
  return spawnSync("which", [program]).status === 0;
}

async function startServer() {
  const port = await freePort();
  if (spawnSync("nginx", ["-v"]).status !== 0) {
    const child = fork(subject("backend.mjs"), ["6"], { stdio: ["ignore", 2, 2, "ipc"] });
    children.push(child);
    const message = await new Promise((resolve) => child.once("message", resolve));
    return { url: `http://127.0.0.1:${message.port}/`, name: "node:http" };
  }
  const conf = join(folder, "nginx.conf");
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder};`)
    .join(" ");
  writeFileSync(
    conf,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr crit; events { worker_connections 4096; }
http { access_log off; ${paths} keepalive_requests 1000000000;
server { listen 127.0.0.1:${port}; location / { return 200 "hello"; } } }`,
  );
  children.push(spawn("nginx", ["-c", conf, "-p", folder], { stdio: ["ignore", "ignore", 2] }));
  await answering(port);
  return { url: `http://127.0.0.1:${port}/`, name: "nginx" };
}
