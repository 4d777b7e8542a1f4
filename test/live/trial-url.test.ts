import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startFleet } from "../../packages/cli/src/fleet/fleet.ts";
import { checkReach } from "../../packages/cli/src/trial/owner-fleet.ts";
import { freePort } from "../../packages/cli/src/trial/targets/free-port.ts";
import { runCli, startCli } from "./cli-process.testbed.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** Somebody's balancer: takes turns between backends that may be named later. */
async function startBalancer(backends: readonly string[]): Promise<string> {
  let turn = 0;
  return serve((incoming, response) => {
    const backend = backends[turn++ % backends.length] ?? "";
    const { url = "/", method = "GET" } = incoming;
    const outgoing = request(new URL(url, backend), { method }, (answer) => {
      response.writeHead(answer.statusCode ?? 502);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.writeHead(502).end());
    outgoing.end();
  });
}

async function serve(handle: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(handle);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const BACKENDS = Array.from({ length: 4 }, () => ({ law: { meanMs: 1, slowFactor: 1 } }));
const never = new AbortController().signal;

test("a URL that reaches every backend is met with no warning", async () => {
  const fleet = await startFleet({ backends: BACKENDS });
  try {
    const url = await startBalancer(fleet.urls);
    expect(await checkReach(fleet, { url, waitMs: 5_000, signal: never })).toEqual([]);
  } finally {
    await fleet.stop();
  }
});

test("a URL that reaches only part of the fleet is told which backends it leaves out", async () => {
  const fleet = await startFleet({ backends: BACKENDS });
  try {
    const url = await startBalancer(fleet.urls.slice(1, 3));
    const warnings = await checkReach(fleet, { url, waitMs: 5_000, signal: never });
    expect(warnings).toEqual([expect.stringContaining("it reaches 2 of 4 backends")]);
    for (const left of [fleet.urls[0], fleet.urls[3]])
      expect(warnings[0]).toContain(new URL(left ?? "").host);
  } finally {
    await fleet.stop();
  }
});

test("a URL that something else answers never reaches the fleet, and that is said", async () => {
  const url = await serve((_, response) => response.end("hello"));
  const ports = await freePorts(4);
  const args = ["--url", url, "--ports", ports.join(","), "--wait", "1s"];
  const { exitCode, stdout, stderr } = await runCli("trial", ...args);
  expect([exitCode, stdout]).toEqual([2, ""]);
  for (const port of ports) expect(stderr).toContain(`127.0.0.1:${port}`);
  expect(stderr).toContain(`${url} never reached the fleet within 1 s`);
  expect(stderr).toContain("answered with status 200, by something that is not the fleet");
});

test("a URL where nobody listens is told as what the probe met", async () => {
  const [unused = 0, ...ports] = await freePorts(5);
  const args = ["--url", `http://127.0.0.1:${unused}`, "--ports", ports.join(","), "--wait", "0s"];
  const { exitCode, stderr } = await runCli("trial", ...args);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/never reached the fleet.*the last probe failed: .*ECONNREFUSED/);
});

test("a probe that nobody answers is given up when the trial is stopped", async () => {
  const stop = new AbortController();
  const fleet = await startFleet({ backends: BACKENDS });
  try {
    let probes = 0;
    const url = await serve(() => {
      probes++;
      stop.abort();
    });
    // By itself a probe waits for five seconds, and is followed by others.
    const options = { url, waitMs: 60_000, signal: stop.signal };
    expect(await checkReach(fleet, options)).toEqual([]);
    expect(probes).toBe(1);
  } finally {
    await fleet.stop();
  }
});

test("a port of the fleet that is taken is told before anything runs", async () => {
  const url = await serve((_, response) => response.end());
  const { port } = new URL(url);
  const ports = [...(await freePorts(3)), Number(port)];
  const { exitCode, stderr } = await runCli("trial", "--url", url, "--ports", ports.join(","));
  expect(exitCode).toBe(2);
  expect(stderr).toContain(`port ${port} is taken by another program`);
});

test("a balancer of one's own is tried on the ports that it was pointed at", async () => {
  const ports = await freePorts(4);
  const url = await startBalancer(ports.map((port) => `http://127.0.0.1:${port}`));
  const { finished } = startCli([
    ...["trial", "--url", url, "--ports", ports.join(","), "--scenario", "healthy"],
    ...["--mean", "20ms", "--load", "20%", "--seconds", "3", "--json"],
  ]);
  const { exitCode, stdout, stderr } = await finished;
  expect(stderr).toContain("It reaches all of them.");
  // A busy machine may make the cell not valid: then that is what is said.
  expect([0, 5]).toContain(exitCode);
  const json = JSON.parse(stdout);
  expect(json).toMatchObject({
    schema: "bobtail.trial/1",
    partial: false,
    setup: { backends: 4 },
    targets: [{ name: url, warnings: [] }],
  });
  const [cell] = json.cells;
  expect(cell.state).toBe(exitCode === 0 ? "graded" : "not-valid");
  expect(cell.figures.requests).toBe(Math.round(4 * 200 * 0.2 * 3));
});

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

test("a URL of somebody else's machine is refused before anything is sent", async () => {
  const { exitCode, stderr } = await runCli("trial", "--url", "http://8.8.8.8/");
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("must run on this machine")]);
});
