import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { createBackendServer } from "../../packages/cli/src/fleet/backend-server.ts";
import { type Fleet, startFleet } from "../../packages/cli/src/fleet/fleet.ts";
import {
  checkFleetOptions,
  type FleetOptions,
} from "../../packages/cli/src/fleet/fleet-options.ts";

let fleet: Fleet | undefined;
afterEach(async () => {
  await fleet?.stop();
  fleet = undefined;
});

/** One worker that takes practically for ever. */
const STUCK = { law: { meanMs: 1e9, slowFactor: 1 }, workers: 1 };
const QUICK = { law: { meanMs: 1, slowFactor: 1 } };

async function start(options: FleetOptions): Promise<Fleet> {
  fleet = await startFleet(options);
  return fleet;
}

async function get(url: string | undefined, init?: RequestInit): Promise<string> {
  const response = await fetch(`${url}`, init);
  return `${response.status} ${(await response.text()).trim()}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("each backend answers on a port of its own and counts what it served", async () => {
  const { urls, stats } = await start({ backends: [QUICK, QUICK] });
  const answers = await Promise.all([get(urls[0]), get(urls[1]), get(urls[1])]);
  expect(answers).toEqual(["200 backend 0", "200 backend 1", "200 backend 1"]);
  const { backends, cpuMs } = await stats();
  expect(backends.map((b) => [b.received, b.started, b.served])).toEqual([
    [1, 1, 1],
    [2, 2, 2],
  ]);
  expect(cpuMs).toBeGreaterThan(0);
});

test("a backend that serves nobody in time is still healthy by its check, and its queue answers 503", async () => {
  const { urls, stats } = await start({ backends: [STUCK], queueLimitMs: 50 });
  const leave = new AbortController();
  const running = get(urls[0], { signal: leave.signal }).catch(() => "gone");
  await expect.poll(async () => (await stats()).backends[0]?.running).toBe(1);
  expect(await get(urls[0])).toBe("503 queued for too long");
  expect(await get(`${urls[0]}/healthz`)).toBe("200 ok");
  leave.abort();
  expect(await running).toBe("gone");
  expect((await stats()).backends[0]).toMatchObject({ received: 2, started: 1, timedOut: 1 });
});

test("a client that goes away while it waits never starts; one that is served keeps its worker", async () => {
  const { urls, stats } = await start({ backends: [STUCK] });
  const leave = new AbortController();
  const first = get(urls[0], { signal: leave.signal }).catch(() => "gone");
  await expect.poll(async () => (await stats()).backends[0]?.running).toBe(1);
  const second = get(urls[0], { signal: leave.signal }).catch(() => "gone");
  await expect.poll(async () => (await stats()).backends[0]?.queued).toBe(1);
  leave.abort();
  expect(await Promise.all([first, second])).toEqual(["gone", "gone"]);
  await expect
    .poll(async () => (await stats()).backends[0])
    .toMatchObject({ started: 1, cancelledQueued: 1, cancelledRunning: 1, running: 1, queued: 0 });
});

test("where the fleet aborts running work, a client that goes away frees its worker", async () => {
  const { urls, stats } = await start({ backends: [STUCK], abortRunning: true });
  const leave = new AbortController();
  const first = get(urls[0], { signal: leave.signal }).catch(() => "gone");
  await expect.poll(async () => (await stats()).backends[0]?.running).toBe(1);
  leave.abort();
  await first;
  await expect
    .poll(async () => (await stats()).backends[0])
    .toMatchObject({ started: 1, cancelledRunning: 1, running: 0 });
});

test("work that outlasts the longest timer is waited for in peace", async () => {
  const warnings: Error[] = [];
  const listener = (warning: Error) => warnings.push(warning);
  process.on("warning", listener);
  const setup = checkFleetOptions({ backends: [{ law: { meanMs: 1e15, slowFactor: 1 } }] });
  const server = createBackendServer(setup, 0, () => {});
  try {
    const running = get(`http://127.0.0.1:${await server.listen()}`);
    await expect.poll(() => server.counts().running).toBe(1);
    await server.reset();
    expect(await running).toBe("503 reset");
    expect(warnings).toEqual([]);
  } finally {
    server.close();
    process.off("warning", listener);
  }
});

test("a full queue refuses at once", async () => {
  const { urls, stats } = await start({ backends: [STUCK], maxQueued: 0 });
  const running = get(urls[0]).catch(() => "gone");
  await expect.poll(async () => (await stats()).backends[0]?.running).toBe(1);
  expect(await get(urls[0])).toBe("503 queue full");
  await fleet?.stop();
  expect(await running).toMatch(/^503 reset$|^gone$/);
});

test("a reset answers whoever waits and starts the counts anew", async () => {
  const { urls, stats, reset } = await start({ backends: [STUCK] });
  const waiting = get(urls[0]);
  await expect.poll(async () => (await stats()).backends[0]?.running).toBe(1);
  await reset();
  expect(await waiting).toBe("503 reset");
  expect((await stats()).backends[0]).toMatchObject({ received: 0, running: 0, queued: 0 });
});

test("a stopped fleet is gone, stopping twice is harmless, and questions to it fail", async () => {
  const { pid, stop, stats } = await start({ backends: [QUICK] });
  await Promise.all([stop(), stop()]);
  await stop();
  expect(isAlive(pid)).toBe(false);
  await expect(stats()).rejects.toThrow("ended");
});

test("a fleet that nobody stops ends after its lifetime", async () => {
  const { ended, pid } = await start({ backends: [QUICK], lifetimeMs: 200 });
  await ended;
  expect(isAlive(pid)).toBe(false);
});

test("a fleet whose parent is killed ends by itself", async () => {
  const entry = fileURLToPath(new URL("../../packages/cli/dist/fleet/fleet.js", import.meta.url));
  const script = `import { startFleet } from ${JSON.stringify(entry)};
    const fleet = await startFleet({ backends: [{ law: { meanMs: 1, slowFactor: 1 } }] });
    console.log(fleet.pid);`;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const pid = await new Promise<number>((resolve) => {
    parent.stdout.once("data", (line: Buffer) => resolve(Number(line.toString())));
  });
  expect(isAlive(pid)).toBe(true);
  parent.kill("SIGKILL");
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
});

test.each([
  ["backends", { backends: [] }],
  ["queueLimitMs", { backends: [QUICK], queueLimitMs: 0 }],
  ["meanMs", { backends: [{ law: { meanMs: -1, slowFactor: 1 } }] }],
  ["workers", { backends: [{ ...QUICK, workers: 0 }] }],
  ["port", { backends: [{ ...QUICK, port: 70_000 }] }],
])("an option out of range is refused by name: %s", async (name, options) => {
  await expect(startFleet(options)).rejects.toThrow(name);
});
