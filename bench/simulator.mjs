// What one simulated request costs, beside a loop that can do nothing else. Each runs in a process of its own, as it does
// for a user: code that two of them share would be compiled for both, and for neither well.
//   node bench/simulator.mjs
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { EventQueue, Histogram, seededRng, World } from "bobtail/sim";
import { best, compare, nsPerOp, table } from "./harness.mjs";

const REQUESTS = 100_000;
const RUNS = 40;
const SERVERS = [
  { workers: 4, slowdown: 5 },
  { count: 9, workers: 4 },
];

function world(policy) {
  return () => {
    const run = new World(
      {
        servers: SERVERS,
        size: { kind: "exponential", meanMs: 10 },
        arrivals: { kind: "poisson", load: 0.7 },
        requests: REQUESTS,
        policy: { balance: { policy: "two-choices", load: "outstanding" }, ...policy },
        seed: 1,
      },
      { digest: false },
    );
    return nsPerOp(REQUESTS, () => run.run());
  };
}

/** The same model by hand, on the same event queue: ten queues in typed arrays, two draws, no policy code, no objects. */
function specialLoop() {
  const rng = seededRng(1);
  const rate = 0.7 * (9 * 0.4 + 0.08);
  const events = new EventQueue();
  const latency = new Histogram();
  const held = new Int32Array(10);
  const busy = new Int32Array(10);
  const waiting = Array.from({ length: 10 }, () => new Int32Array(1 << 14));
  const heads = new Int32Array(10);
  const tails = new Int32Array(10);
  const places = new Int32Array(REQUESTS);
  const startMs = new Float64Array(REQUESTS);
  const sizeMs = new Float64Array(REQUESTS);
  return nsPerOp(REQUESTS, () => {
    let arrivalMs = -Math.log(1 - rng.next()) / rate;
    for (let arrived = 0, done = 0; done < REQUESTS; ) {
      if (events.pop(arrivalMs)) {
        const now = events.timeMs;
        const job = events.subject;
        const at = places[job];
        held[at]--;
        if (heads[at] < tails[at]) {
          const next = waiting[at][heads[at]++ & 16383];
          events.push(now + sizeMs[next] * (at === 0 ? 5 : 1), 0, next);
        } else busy[at]--;
        latency.record((now - startMs[job]) * 1000);
        done++;
      } else {
        const now = arrivalMs;
        const pair = rng.below(90);
        const a = pair % 10;
        const b = (a + 1 + Math.floor(pair / 10)) % 10;
        const to = held[a] <= held[b] ? a : b;
        const job = arrived++;
        places[job] = to;
        startMs[job] = now;
        sizeMs[job] = -10 * Math.log(1 - rng.next());
        held[to]++;
        if (busy[to] < 4) {
          busy[to]++;
          events.push(now + sizeMs[job] * (to === 0 ? 5 : 1), 0, job);
        } else waiting[to][tails[to]++ & 16383] = job;
        arrivalMs = arrived < REQUESTS ? now - Math.log(1 - rng.next()) / rate : Infinity;
      }
    }
    if (latency.count !== REQUESTS) throw new Error("lost");
  });
}

function hold(pending) {
  return () => {
    const queue = new EventQueue();
    const rng = seededRng(2);
    for (let i = 0; i < pending; i++) queue.push(rng.next() * 20, 0, undefined);
    for (let i = 0; i < 4 * pending; i++) replaceNext(queue, rng);
    return nsPerOp(1_000_000, (n) => {
      for (let i = 0; i < n; i++) replaceNext(queue, rng);
    });
  };
}

function replaceNext(queue, rng) {
  queue.pop();
  queue.push(queue.timeMs - 10 * Math.log(1 - rng.next()), 0, undefined);
}

const REQUEST = {
  "by hand, no policy code": specialLoop,
  "two choices through the call machine": world({}),
  "the same with a hedge and a deadline": world({ hedge: { afterMs: 60 }, deadlineMs: 1000 }),
};
const EVENT = {
  "40 pending": hold(40),
  "1,000 pending": hold(1000),
  "100,000 pending": hold(100_000),
};

/** The best of several runs in a fresh process. */
function inOwnProcess(name) {
  return () => {
    const args = [fileURLToPath(import.meta.url), name];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    return Number(stdout);
  };
}

async function costsOf(group) {
  const names = Object.keys(group);
  const contestants = Object.fromEntries(names.map((name) => [name, inOwnProcess(name)]));
  return await compare(contestants, { rounds: 3, warmups: 0, summary: best });
}

const own = process.argv[2];
if (own !== undefined) {
  const run = REQUEST[own] ?? EVENT[own];
  const costs = [];
  for (let i = 0; i < (own in REQUEST ? RUNS : 5); i++) costs.push(await run());
  console.log(best(costs));
} else {
  const title = `One simulated request (two choices, ten servers, ${REQUESTS.toLocaleString("en")} requests)`;
  table(`${title}, Node ${process.versions.node}`, await costsOf(REQUEST));
  table("One event, taken and replaced", await costsOf(EVENT));
}
