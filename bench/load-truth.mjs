// What load generators say of a server whose defect is known: one request in ten is never answered, or nothing is
// answered for two seconds. 100 requests a second for 10 s, where a tool can be told so, over 10 connections or as many as
// it opens. The truth is of users who come at that rate whatever the server does.
//   node bench/load-truth.mjs [answer ms]
// The answers take 50 ms unless told otherwise, so that what the machine adds is small beside them.
// hey and wrk take part where they are found on the PATH.
import { fork, spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

// autocannon comes with the bench.
process.env.PATH += `:${fileURLToPath(new URL("../node_modules/.bin", import.meta.url))}`;

const ANSWER_MS = Number(process.argv[2] ?? 50);
const RATE = 100;
const SECONDS = 10;
const FREEZE_MS = 2000;
const TIMEOUT_MS = { silent: 1000, frozen: 10_000 };
const QUANTILES = [0.5, 0.9, 0.95, 0.99];
const WITHIN_RATIO = 0.05;
/** Where one in ten is silent, the p90 is the slowest answer of all: whatever the machine did once. */
const CHECKED = { silent: [0.5, 0.95, 0.99], frozen: QUANTILES };
const subject = (name) => fileURLToPath(new URL(`subjects/${name}`, import.meta.url));

const TITLES = {
  silent: "every tenth request is never answered, timeout 1 s",
  frozen: "the server answers nothing for 2 s",
};
let worst = 0;
for (const defect of ["silent", "frozen"]) {
  console.log(`\n${TITLES[defect]}; answers after ${ANSWER_MS} ms`);
  console.log(`  ${"".padEnd(14)}${"requests".padStart(9)}${QUANTILES.map(label).join("")}`);
  for (const [name, tool] of Object.entries(tools(defect))) {
    const { requests, ms, server } = await measure(defect, tool);
    show(name, requests, ms);
    if (name !== "bobtail load") continue;
    const true_ = truth(defect, server.medianMs);
    show("  the truth", RATE * SECONDS, true_);
    worst = Math.max(worst, ...CHECKED[defect].map((q) => Math.abs(ms[q] / true_[q] - 1)));
  }
}
console.log(
  `\nbobtail load is at most ${(worst * 100).toFixed(1)} % off (all but the p90 of the silent server, which is its slowest answer)`,
);
process.exitCode = worst <= WITHIN_RATIO ? 0 : 1;

/** By construction; how long a plain answer takes is what the server's own clock says. */
function truth(defect, plainMs) {
  return Object.fromEntries(
    QUANTILES.map((q) => {
      if (defect === "silent") return [q, q > 0.9 ? TIMEOUT_MS.silent : plainMs];
      // One in five comes while it is frozen, and waits for what is left of it.
      const shareRatio = FREEZE_MS / (SECONDS * 1000);
      return [q, plainMs + Math.max(0, FREEZE_MS * (1 - (1 - q) / shareRatio))];
    }),
  );
}

function tools(defect) {
  const timeoutMs = TIMEOUT_MS[defect];
  const seconds = timeoutMs / 1000;
  const options = { ratePerSec: RATE, durationMs: SECONDS * 1000, timeoutMs, arrivals: "uniform" };
  const all = {
    "bobtail load": {
      command: (url) => [
        process.execPath,
        subject("load-engine.mjs"),
        url,
        JSON.stringify(options),
      ],
      read: (text) => {
        const { ledger, responseMs } = JSON.parse(text);
        return { requests: ledger.sent, ms: responseMs };
      },
    },
    autocannon: {
      command: (url) => [
        "autocannon",
        "-R",
        RATE,
        "-c",
        10,
        "-d",
        SECONDS,
        "-t",
        seconds,
        "--json",
        url,
      ],
      read: (text) => {
        const { latency, requests } = JSON.parse(text);
        // It has no p95: the next one above.
        const { p50, p90, p97_5: p95, p99 } = latency;
        return { requests: requests.sent, ms: { 0.5: p50, 0.9: p90, 0.95: p95, 0.99: p99 } };
      },
    },
    hey: {
      command: (url) => ["hey", "-q", 10, "-c", 10, "-z", `${SECONDS}s`, "-t", seconds, url],
      read: (text) => ({
        requests: Number(/\[200\]\s+(\d+)/.exec(text)[1]),
        ms: Object.fromEntries(
          QUANTILES.map((q) => [
            q,
            1000 * Number(new RegExp(`${q * 100}%+ in ([\\d.]+)`).exec(text)?.[1]),
          ]),
        ),
      }),
    },
    wrk: {
      command: (url) => {
        const timing = ["-d", `${SECONDS}s`, "--timeout", `${seconds}s`, "--latency"];
        return ["wrk", "-t", 1, "-c", 10, ...timing, url];
      },
      read: (text) => ({
        requests: Number(/(\d+) requests in/.exec(text)[1]),
        ms: Object.fromEntries(
          QUANTILES.map((q) => {
            const [, value, unit] =
              new RegExp(`\\s${q * 100}%\\s+([\\d.]+)(us|ms|s)`).exec(text) ?? [];
            return [q, Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit ?? "ms"]];
          }),
        ),
      }),
    },
  };
  for (const name of ["autocannon", "hey", "wrk"])
    if (spawnSync("which", [name]).status !== 0) delete all[name];
  return all;
}

async function measure(defect, { command, read }) {
  const server = fork(subject("sick-server.mjs"), [defect, String(ANSWER_MS)]);
  try {
    const { port } = await new Promise((resolve) => server.once("message", resolve));
    const [program, ...args] = command(`http://127.0.0.1:${port}/`).map(String);
    const text = await output(program, args);
    const told = new Promise((resolve) => server.once("message", resolve));
    server.send("report");
    return { ...read(text), server: await told };
  } finally {
    server.kill("SIGKILL");
  }
}

function output(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
    let text = "";
    child.stdout.on("data", (bytes) => {
      text += bytes;
    });
    child.once("error", reject);
    child.once("close", () => resolve(text));
  });
}

function show(name, requests, ms) {
  const figures = QUANTILES.map((q) => {
    const value = ms[q];
    const text = Number.isNaN(value) ? "-" : value >= 100 ? value.toFixed(0) : value.toFixed(1);
    return text.padStart(10);
  });
  console.log(`  ${name.padEnd(14)}${String(requests).padStart(9)}${figures.join("")}`);
}

function label(q) {
  return `p${q * 100}`.padStart(10);
}
