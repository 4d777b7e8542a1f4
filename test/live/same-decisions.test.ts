import { afterEach, expect, test } from "vitest";
import {
  type Attempt,
  type Call,
  type CallObserver,
  ClientDriver,
  nth,
  type SkipReason,
  seededRng,
} from "../../packages/bobtail/src/engine.ts";
import type { ServiceOptions } from "../../packages/bobtail/src/index.ts";
import { DecisionDigest, DecisionLog, World } from "../../packages/bobtail/src/sim.ts";
import { fetchTransport } from "../../packages/bobtail/src/undici.ts";
import { ScriptedServers } from "./scripted-servers.testbed.ts";
import { SteppedTime } from "./stepped-time.testbed.ts";

/**
 * A fixed schedule before scripted servers, once in the simulator and once over HTTP on loopback sockets. The sockets'
 * side is the library's own: its driver, its fetch transport, its timers. Only time is stepped: it stands still until
 * every byte of the last event has arrived, so nothing depends on how fast the machine is.
 */
const SEED = 20_260;
const CALLS = 200;
const MEAN_GAP_MS = 9;
const SERVERS = [
  { workers: "unlimited", slowdown: 6 },
  { workers: "unlimited", slowdown: 1, faults: [{ kind: "crash", atMs: 500.5, forMs: 400 }] },
  { workers: "unlimited", slowdown: 1.3 },
  { workers: "unlimited", slowdown: 0.8, faults: [{ kind: "crash", atMs: 1100.5, forMs: 200 }] },
  { workers: "unlimited", slowdown: 2 },
] as const;
const NAMES = SERVERS.map((_, i) => String(i));

const POLICIES: Readonly<Record<string, ServiceOptions>> = {
  "round robin, retries": { balance: { policy: "round-robin" }, retry: { max: 2 } },
  "random, a fixed hedge, a small budget": {
    balance: { policy: "random" },
    hedge: { afterMs: 17 },
    budget: { extraRatio: 0.05, burstCount: 3 },
  },
  "least outstanding, two hedges": {
    balance: { policy: "least", load: "outstanding" },
    hedge: { afterMs: 11, max: 2 },
    budget: { extraRatio: 0.3, burstCount: 5 },
  },
  "two choices on outstanding, a fixed hedge": {
    balance: { load: "outstanding" },
    hedge: { afterMs: 20 },
    budget: { extraRatio: 0.1, burstCount: 4 },
  },
  "two choices on peak EWMA, a fixed hedge": {
    hedge: { afterMs: 25 },
    budget: { extraRatio: 0.1, burstCount: 4, minPerSecond: 1 },
  },
  "two choices on work, an attempt timeout": {
    balance: { load: "work" },
    timeout: { attemptMs: 60 },
    budget: { extraRatio: 0.2 },
  },
  "least on peak EWMA, a delay that is learnt": {
    balance: { policy: "least" },
    hedge: { afterMs: "auto", minSamples: 20 },
    budget: { extraRatio: 0.15 },
  },
  "full endpoints, calls that wait, deadlines": {
    balance: { policy: "round-robin", errorPenalty: false },
    limit: { perEndpoint: 1, pending: 1 },
    hedge: { afterMs: 9 },
    budget: { extraRatio: 0.5 },
    deadlineMs: 70,
    retry: { max: 0 },
  },
};

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Schedule {
  readonly atMs: number[];
  readonly sizeMs: number[];
}

function schedule(): Schedule {
  const rng = seededRng(SEED);
  const exponential = (mean: number): number => -mean * Math.log(1 - rng.next());
  let nowMs = 0;
  const atMs = Array.from({ length: CALLS }, () => {
    nowMs += exponential(MEAN_GAP_MS);
    return nowMs;
  });
  return { atMs, sizeMs: atMs.map(() => 2 + exponential(10)) };
}

/** The decisions in words, and a digest that holds their times too. */
class Decisions implements CallObserver {
  readonly log = new DecisionLog(NAMES);
  readonly digest = new DecisionDigest();
  launches = 0;
  ends = 0;

  launched(a: Attempt, nowMs: number): void {
    this.launches++;
    this.log.launched(a);
    this.digest.launched(a, nowMs);
  }

  committed(a: Attempt, nowMs: number): void {
    this.log.committed(a);
    this.digest.committed(a, nowMs);
  }

  ended(a: Attempt, nowMs: number): void {
    this.ends++;
    this.log.ended(a);
    this.digest.ended(a, nowMs);
  }

  skipped(call: Call, reason: SkipReason, nowMs: number): void {
    this.log.skipped(call, reason);
    this.digest.skipped(call, reason, nowMs);
  }

  settled(call: Call, nowMs: number): void {
    this.log.settled(call);
    this.digest.settled(call, nowMs);
  }
}

function inTheSimulator(policy: ServiceOptions, seed: number): Decisions {
  const { atMs, sizeMs } = schedule();
  const decisions = new Decisions();
  new World(
    {
      servers: SERVERS,
      arrivals: { kind: "trace", atMs, sizeMs },
      requests: CALLS,
      cost: "size",
      cancel: "running",
      policy,
      seed,
    },
    { observer: decisions },
  ).run();
  return decisions;
}

async function onRealSockets(policy: ServiceOptions, seed: number): Promise<Decisions> {
  const { atMs, sizeMs } = schedule();
  const decisions = new Decisions();
  const time = new SteppedTime();
  const servers = new ScriptedServers(time, sizeMs);
  cleanups.push(() => servers.close());
  await servers.start(SERVERS);
  const driver = new ClientDriver({
    name: "scripted",
    options: policy,
    endpoints: NAMES.map((name) => ({ name })),
    clock: time,
    timers: time,
    // The stream that the simulator's first client draws from.
    rng: seededRng(seed).split("routing").split("client 0 shard 0"),
    observer: decisions,
  });
  const connections = fetchTransport().connect({ options: policy, clock: time, timers: time });
  cleanups.unshift(() => connections.close());
  const { endpoints } = driver.service.balancer;
  connections.setEndpoints(servers.urls.map((url, i) => ({ endpoint: nth(endpoints, i), url })));

  let open = CALLS;
  const call = async (i: number): Promise<void> => {
    const { sender, idempotent } = await connections.prepare(`/${i}`, {}, { noHedge: false });
    const answer = driver.run(sender, { idempotent, cost: sizeMs[i] });
    // A call that fails is in the log of decisions.
    await answer.then((response) => response.text()).catch(() => {});
    open--;
  };
  for (const [i, ms] of atMs.entries()) time.at(ms, () => void call(i));
  while (open > 0) {
    time.step();
    await quiet(decisions, servers, () => driver.machine.stats.calls);
  }
  return decisions;
}

/** Until every copy has arrived, every answer has been read to its end, and every server knows who has left. */
async function quiet(
  decisions: Decisions,
  servers: ScriptedServers,
  calls: () => number,
): Promise<void> {
  let before = -1;
  for (;;) {
    // Twice the same, so that what the last arrival set going has gone as far as it goes.
    const now = calls() + decisions.launches;
    const settled =
      decisions.launches === servers.received && decisions.ends === servers.answered + servers.left;
    if (settled && now === before) return;
    before = now;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const seen = new Set<string>();

for (const [name, policy] of Object.entries(POLICIES)) {
  test(`${name}: the simulator and real sockets take the same decisions at the same times`, async () => {
    const simulated = inTheSimulator(policy, SEED);
    const real = await onRealSockets(policy, SEED);
    expect(real.log.entries).toEqual(simulated.log.entries);
    expect(real.digest.value).toBe(simulated.digest.value);
    expect(simulated.log.dropped).toBe(0);
    for (const entry of real.log.entries) seen.add(entry.replace(/ \d+$/, ""));
  });
}

test("the schedules bring about every kind of decision: picks, hedges, retries, refusals, cancels, wins and failures", () => {
  expect([...seen].sort()).toEqual(
    expect.arrayContaining([
      "failed",
      "hedge",
      "pick",
      "retry",
      "settle all-failed",
      "settle deadline",
      "settle ok",
      "settle shed",
      "skip budget",
      "skip no_alternative",
      "superseded",
      "win",
    ]),
  );
});

test("another seed or another policy makes other decisions, on either side", async () => {
  const policy = POLICIES["random, a fixed hedge, a small budget"] as ServiceOptions;
  const first = inTheSimulator(policy, SEED).log.entries;
  expect(inTheSimulator(policy, SEED).log.entries).toEqual(first);
  expect(inTheSimulator(policy, SEED + 1).log.entries).not.toEqual(first);
  expect(inTheSimulator({ ...policy, hedge: { afterMs: 18 } }, SEED).log.entries).not.toEqual(
    first,
  );
});
