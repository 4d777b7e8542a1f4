import { Agent } from "node:http";
import { afterEach, expect, test } from "vitest";
import type { BackendCounts } from "../../packages/cli/src/fleet/backend-counts.ts";
import type { Fault } from "../../packages/cli/src/fleet/fault.ts";
import { type Fleet, startFleet } from "../../packages/cli/src/fleet/fleet.ts";
import type { FleetOptions } from "../../packages/cli/src/fleet/fleet-options.ts";
import { isSlowKey } from "../../packages/cli/src/fleet/request-shape.ts";
import { ask, holdConnection, outcome, tally } from "./fleet-client.testbed.ts";

let fleet: Fleet | undefined;
afterEach(async () => {
  await fleet?.stop();
  fleet = undefined;
});

const QUICK = { law: { meanMs: 0.1, slowFactor: 1 } };
/** One worker that takes practically for ever. */
const STUCK = { law: { meanMs: 1e9, slowFactor: 1 }, workers: 1 };

async function start(options: FleetOptions): Promise<Fleet & { readonly url: string }> {
  fleet = await startFleet(options);
  return { ...fleet, url: fleet.urls[0] ?? "" };
}

async function countsOf(index = 0): Promise<BackendCounts> {
  const stats = await fleet?.stats();
  const counts = stats?.backends[index];
  if (counts === undefined) throw new Error(`no counts of backend ${index}`);
  return counts;
}

/** What the doc comment of `BackendCounts` promises. */
function expectToAddUp(c: BackendCounts): void {
  const atTheDoor = c.failed + c.silenced + c.reset + c.refused;
  const inTheQueue = c.timedOut + c.cancelledQueued + c.lostQueued + c.queued;
  expect(c.received).toBe(atTheDoor + inTheQueue + c.started);
  expect(c.started).toBe(c.running + c.served + c.lostRunning);
}

async function askMany(url: string, times: number, agent = new Agent()): Promise<string[]> {
  const outcomes: string[] = [];
  for (let i = 0; i < times; i++) outcomes.push(await outcome(url, { agent }));
  return outcomes;
}

test("a backend that fails fast answers its share with the error, the rest as usual, and its health check stays well", async () => {
  const { url, control } = await start({ backends: [QUICK] });
  await control(0, { kind: "fail-fast", shareRatio: 0.5, status: 500 });
  const seen = tally(await askMany(url, 200));
  expect(Object.keys(seen).sort()).toEqual(["200", "500"]);
  expect(seen["500"]).toBeGreaterThan(60);
  expect(seen["500"]).toBeLessThan(140);
  expect(await outcome(`${url}/healthz`)).toBe("200");
  const counts = await countsOf();
  expect(counts).toMatchObject({ received: 200, failed: seen["500"], served: seen["200"] });
  expectToAddUp(counts);
});

test("a healed backend answers everything again", async () => {
  const { url, control } = await start({ backends: [QUICK] });
  await control(0, { kind: "fail-fast", shareRatio: 1 });
  expect(await outcome(url)).toBe("503");
  await control(0, undefined);
  expect(tally(await askMany(url, 20))).toEqual({ "200": 20 });
});

test("a black hole takes the connection and the request, and neither users nor health checks ever hear of it", async () => {
  const { url, control } = await start({ backends: [QUICK] });
  await control(0, { kind: "silent", after: "accept" });
  const [user, check] = await Promise.all([
    ask(url, { patienceMs: 300 }),
    ask(`${url}/healthz`, { patienceMs: 300 }),
  ]);
  expect([user.events, check.events]).toEqual([["silence"], ["silence"]]);
  expect(await countsOf()).toMatchObject({ received: 1, silenced: 1, served: 0 });
});

test("headers and half a body come, then nothing, while the health check stays well", async () => {
  const { url, control } = await start({ backends: [QUICK] });
  await control(0, { kind: "silent", after: "headers" });
  const heard = await ask(url, { patienceMs: 300 });
  expect(heard.events).toEqual(["200", "body", "silence"]);
  expect(heard.bodyBytes).toBe("backend 0\n".length / 2);
  expect(await outcome(`${url}/healthz`)).toBe("200");
});

test("connections are reset before a byte or after the headers, whichever is asked for, in the share asked for", async () => {
  const { url, control } = await start({ backends: [QUICK] });
  await control(0, { kind: "resets", after: "accept", shareRatio: 0.3 });
  const seen = tally(await askMany(url, 200));
  expect(Object.keys(seen).sort()).toEqual(["200", "ECONNRESET"]);
  expect(seen.ECONNRESET).toBeGreaterThan(30);
  expect(seen.ECONNRESET).toBeLessThan(90);
  await control(0, { kind: "resets", after: "headers", shareRatio: 1 });
  expect((await ask(url)).events).toEqual(["200", "body", "ECONNRESET"]);
  const counts = await countsOf();
  expect(counts.reset).toBe((seen.ECONNRESET ?? 0) + 1);
  expectToAddUp(counts);
});

test("a restart resets open connections, refuses new ones, and comes back on the same port with its counts", async () => {
  const { url, control } = await start({ backends: [STUCK, QUICK] });
  const idle = await holdConnection(url);
  const agent = new Agent({ keepAlive: true });
  const running = outcome(url, { agent });
  const waiting = outcome(url);
  await expect.poll(async () => (await countsOf()).queued).toBe(1);
  await control(0, { kind: "restart", downMs: 700 });
  expect(await Promise.all([running, waiting, idle.ended])).toEqual([
    "ECONNRESET",
    "ECONNRESET",
    "ECONNRESET",
  ]);
  expect(await outcome(url)).toBe("ECONNREFUSED");
  await expect.poll(() => outcome(`${url}/healthz`), { timeout: 8_000 }).toBe("200");
  const again = outcome(url, { patienceMs: 200 });
  await expect.poll(async () => (await countsOf()).running).toBe(1);
  expect(await again).toBe("silence");
  const counts = await countsOf();
  expect(counts).toMatchObject({ received: 3, lostQueued: 1, lostRunning: 1, started: 2 });
  expectToAddUp(counts);
  expect(await outcome(fleet?.urls[1] ?? "")).toBe("200");
});

test("a backend that joins late has its port from the start and refuses until then", async () => {
  const { url, control } = await start({ backends: [{ ...QUICK, fault: { kind: "gone" } }] });
  expect(await outcome(url)).toBe("ECONNREFUSED");
  await control(0, undefined);
  expect(await outcome(url)).toBe("200");
});

test("a reset of the fleet brings back the fault of the options, and with it the port that refuses", async () => {
  const { url, control, reset } = await start({
    backends: [{ ...QUICK, fault: { kind: "gone" } }],
  });
  await control(0, undefined);
  expect(await outcome(url)).toBe("200");
  await reset();
  expect(await outcome(url)).toBe("ECONNREFUSED");
  expect(await countsOf()).toMatchObject({ received: 0, lostRunning: 0 });
});

test("a reset of the fleet ends those that a fault had left in silence", async () => {
  const { url, control, reset } = await start({ backends: [QUICK] });
  await control(0, { kind: "silent", after: "accept" });
  const black = outcome(url);
  await expect.poll(async () => (await countsOf()).silenced).toBe(1);
  await reset();
  expect(await black).toBe("503");
  expect(await outcome(url)).toBe("200");
});

test("a backend that flaps is sick first, then well, then sick again", async () => {
  const { url, control } = await start({ backends: [QUICK] });
  const fault: Fault = { kind: "fail-fast", shareRatio: 1 };
  await control(0, { kind: "flapping", sickMs: 400, healthyMs: 400, fault });
  const runs: string[] = [await outcome(url)];
  await expect
    .poll(
      async () => {
        const now = await outcome(url);
        if (now !== runs.at(-1)) runs.push(now);
        return runs.length;
      },
      { interval: 20, timeout: 10_000 },
    )
    .toBeGreaterThanOrEqual(4);
  expect(runs.slice(0, 4)).toEqual(["503", "200", "503", "200"]);
});

test("a slow factor holds for services that begin under it: one that runs keeps its time, one that waits does not", async () => {
  const { url, control } = await start({
    backends: [{ ...QUICK, workers: 1 }],
    abortRunning: true,
    queueLimitMs: 60_000,
  });
  await control(0, { kind: "slow", factor: 1e9 });
  const running = outcome(url, { patienceMs: 600 });
  await expect.poll(async () => (await countsOf()).running).toBe(1);
  const waiting = outcome(url);
  await expect.poll(async () => (await countsOf()).queued).toBe(1);
  await control(0, undefined);
  expect(await Promise.all([running, waiting])).toEqual(["silence", "200"]);
  expect(await countsOf()).toMatchObject({ started: 2, served: 1, cancelledRunning: 1 });
});

test("a cold backend takes its time for the first requests only", async () => {
  const { url, control } = await start({
    backends: [{ law: { meanMs: 1, slowFactor: 1 }, workers: 64 }],
  });
  await control(0, { kind: "slow", factor: 1e9, fades: { overRequests: 3 } });
  const cold = [1, 2, 3].map(() => outcome(url, { patienceMs: 1_000 }));
  await expect.poll(async () => (await countsOf()).started).toBe(3);
  expect(await outcome(url)).toBe("200");
  expect(await Promise.all(cold)).toEqual(["silence", "silence", "silence"]);
});

test("slow keys are slow on every backend, other keys on none", async () => {
  const keys = Array.from({ length: 200 }, (_, i) => `k${i}`);
  const slow = keys.find((key) => isSlowKey(key, 0.02)) ?? "";
  const quick = keys.find((key) => !isSlowKey(key, 0.02)) ?? "";
  await start({
    backends: [QUICK, QUICK],
    shapes: { slowKeys: { shareRatio: 0.02, factor: 1e9 } },
  });
  for (const url of fleet?.urls ?? []) {
    expect(await outcome(`${url}/?key=${slow}`, { patienceMs: 300 })).toBe("silence");
    expect(await outcome(`${url}/?key=${quick}`)).toBe("200");
  }
});

test("large answers come whole beside small ones", async () => {
  const { url } = await start({
    backends: [QUICK],
    shapes: { large: { path: "/large", bodyBytes: 300_000, factor: 2 } },
  });
  const sizes = ["/large", "/large?x=1", "/larger", "/"].map((path) => ask(`${url}${path}`));
  const heard = await Promise.all(sizes);
  expect(heard.map((h) => h.bodyBytes)).toEqual([300_000, 300_000, 10, 10]);
});

test("attempts that carry the header of a hedge or retry are counted as marked, in whatever case it is written", async () => {
  const { url } = await start({ backends: [QUICK] });
  await outcome(url, { headers: { "bobtail-attempt": "2;kind=hedge" } });
  await outcome(url, { headers: { "Bobtail-Attempt": "3;kind=retry" } });
  await outcome(url);
  expect(await countsOf()).toMatchObject({ received: 3, marked: 2 });
});

test("control takes hold while requests run, on many backends at once, and every request is accounted for", async () => {
  const backends = Array.from({ length: 8 }, () => ({ law: { meanMs: 2, slowFactor: 1 } }));
  const { urls, control, stats } = await start({ backends });
  let stopped = false;
  const user = async (url: string): Promise<number> => {
    const agent = new Agent({ keepAlive: true });
    let sent = 0;
    for (; !stopped; sent++) await outcome(url, { agent, patienceMs: 100 });
    return sent;
  };
  const users = urls.flatMap((url) => [user(url), user(url)]);
  const faults: (Fault | undefined)[] = [
    { kind: "slow", factor: 3 },
    { kind: "fail-fast", shareRatio: 0.5 },
    { kind: "stalls", shareRatio: 0.5, minMs: 1, maxMs: 2 },
    { kind: "silent", after: "headers", shareRatio: 0.2 },
    { kind: "resets", after: "accept", shareRatio: 0.5 },
    { kind: "restart", downMs: 100 },
    { kind: "gone" },
    undefined,
  ];
  for (let turn = 0; turn < faults.length; turn++) {
    await Promise.all(urls.map((_, i) => control(i, faults[(i + turn) % faults.length])));
    const before = (await stats()).backends.map((b) => b.received);
    await expect
      .poll(async () => {
        const { backends: now } = await stats();
        return now.filter((b, i) => b.received > (before[i] ?? 0) + 3).length;
      })
      .toBeGreaterThanOrEqual(6);
  }
  stopped = true;
  const sent = await Promise.all(users);
  const { backends: counts } = await stats();
  for (const c of counts) expectToAddUp(c);
  const received = counts.reduce((sum, c) => sum + c.received, 0);
  expect(received).toBeGreaterThan(100);
  expect(received).toBeLessThanOrEqual(sent.reduce((sum, n) => sum + n, 0) * 1.05);
  for (const kind of ["failed", "silenced", "reset", "served"] as const)
    expect(counts.reduce((sum, c) => sum + c[kind], 0)).toBeGreaterThan(0);
});

test.each<[string, Fault]>([
  ["shareRatio", { kind: "fail-fast", shareRatio: 1.5 }],
  ["status", { kind: "fail-fast", shareRatio: 1, status: 200 }],
  ["factor", { kind: "slow", factor: Number.NaN }],
  ["overRequests", { kind: "slow", factor: 2, fades: {} }],
  ["maxMs", { kind: "stalls", shareRatio: 1, minMs: 5, maxMs: 1 }],
  ["sickMs", { kind: "flapping", sickMs: 0, healthyMs: 1, fault: { kind: "slow", factor: 2 } }],
  ["downMs", { kind: "restart", downMs: Number.POSITIVE_INFINITY }],
  ["kind", { kind: "flapping", sickMs: 1, healthyMs: 1, fault: { kind: "gone" } } as never],
  ["kind", { kind: "melted" } as never],
])("a fault out of range is refused by name, %s, and changes nothing", async (name, fault) => {
  const { url, control } = await start({ backends: [QUICK] });
  await expect(control(0, fault)).rejects.toThrow(name);
  await expect(startFleet({ backends: [{ ...QUICK, fault }] })).rejects.toThrow(name);
  expect(await outcome(url)).toBe("200");
});

test("a backend that does not exist cannot be made sick, and a fleet that is gone says so", async () => {
  const { control, stop } = await start({ backends: [QUICK] });
  await expect(control(1, undefined)).rejects.toThrow("index");
  await stop();
  await expect(control(0, undefined)).rejects.toThrow("ended");
});
