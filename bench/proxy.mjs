// CPU that a proxy spends per request, Bobtail's beside npm's (and nginx and HAProxy when they are installed), each a process
// of its own in front of the same backend, in interleaved rounds of the same closed-loop traffic.
//   node bench/proxy.mjs [requests a round] [rounds]
import { fork, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import { median, table } from "./harness.mjs";
import { answering, freePort } from "./local-port.mjs";

const REQUESTS = Number(process.argv[2] ?? 20_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const CONNECTIONS = 50;
const TICK_US = 1e6 / Number(spawnSync("getconf", ["CLK_TCK"], { encoding: "utf8" }).stdout || 100);
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bobtail-bench-"));
const children = [];

try {
  const backend = fork(file("subjects/backend.mjs"), { stdio: ["ignore", 2, 2, "ipc"] });
  children.push(backend);
  const { port } = await new Promise((resolve) => backend.once("message", resolve));
  const target = `http://127.0.0.1:${port}`;
  const subjects = await startSubjects(target);
  const costs = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, subject] of Object.entries(subjects)) {
      const before = cpuUs(subject.child.pid);
      await drive(subject.port, REQUESTS);
      const cost = (cpuUs(subject.child.pid) - before) / REQUESTS;
      if (round > 0) costs[name].push(cost);
    }
  }
  table(
    `CPU a request, HTTP/1.1, ${CONNECTIONS} connections, 128 bytes, median of ${ROUNDS} rounds of ${REQUESTS}`,
    Object.fromEntries(Object.entries(costs).map(([name, list]) => [name, median(list)])),
    { unit: "us", base: "fast-proxy" },
  );
} finally {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

async function startSubjects(target) {
  const subjects = {};
  const add = async (name, start) => {
    const port = await freePort();
    const child = start(port);
    children.push(child);
    await answering(port);
    subjects[name] = { child, port };
  };
  const node = (script) => (port) =>
    fork(file(script), [target, String(port)], { stdio: ["ignore", 2, 2, "ipc"] });
  await add("fast-proxy", node("subjects/fast-proxy.mjs"));
  await add("http-proxy", node("subjects/http-proxy.mjs"));
  const policy = join(folder, "policy.yaml");
  await add("bobtail: balancing, hedge timer, budget, metrics on", (port) => {
    // Ten names for the same backend: a real pick of two among ten.
    const { port: backendPort } = new URL(target);
    const endpoints = Array.from(
      { length: 10 },
      (_, i) => `http://127.0.0.${i + 1}:${backendPort}`,
    );
    writeFileSync(
      policy,
      JSON.stringify({
        listen: { address: `127.0.0.1:${port}`, service: "bench" },
        admin: { address: "127.0.0.1:0" },
        services: {
          bench: {
            endpoints:
              process.platform === "linux" && process.env.ONE_ENDPOINT === undefined
                ? endpoints
                : [target],
            hedge: { after: "auto" },
            budget: { extra: "5%" },
          },
        },
      }),
    );
    return spawn(
      process.execPath,
      [file("../packages/cli/dist/main.js"), "proxy", "--config", policy],
      {
        stdio: ["ignore", "ignore", "ignore"],
      },
    );
  });
  if (spawnSync("nginx", ["-v"]).status === 0) {
    await add("nginx", (port) => {
      const conf = join(folder, "nginx.conf");
      writeFileSync(
        conf,
        `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr crit; events { worker_connections 1024; }
http { access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder};
scgi_temp_path ${folder}; keepalive_requests 1000000; upstream b { server ${new URL(target).host}; keepalive 128; keepalive_requests 1000000; }
server { listen 127.0.0.1:${port}; location / { proxy_pass http://b; proxy_http_version 1.1; proxy_set_header Connection ""; } } }`,
      );
      return spawn("nginx", ["-c", conf, "-p", folder], { stdio: ["ignore", "ignore", 2] });
    });
  }
  return subjects;
}

async function drive(port, count) {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS, pipelining: 1 });
  let left = count;
  const one = () =>
    new Promise((resolve, reject) => {
      pool.dispatch(
        { method: "GET", path: "/q?term=bob", headers: { accept: "text/plain" } },
        {
          onConnect() {},
          onHeaders(status) {
            if (status !== 200) reject(new Error(`status ${status}`));
            return true;
          },
          onData: () => true,
          onComplete: resolve,
          onError: reject,
        },
      );
    });
  const worker = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  await pool.close();
}

/** User and system time of a process, all threads, in microseconds (Linux). */
function cpuUs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}
