import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { seededRng } from "../../packages/bobtail/src/engine.ts";
import { type Finished, startCli } from "./cli-process.testbed.ts";

/** Two cores and other tests: a run during which the generator could not keep up says nothing, and is made again. */
const ATTEMPTS = 4;

let directory: string;
const servers: Server[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "bobtail-"));
});
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(directory, { recursive: true });
});

interface Backend {
  readonly url: string;
  received: number;
}

/** Answers after `fromMs` to `toMs`. */
async function startBackend(fromMs: number, toMs: number = fromMs): Promise<Backend> {
  const rng = seededRng(1);
  const backend = { url: "", received: 0 };
  const server = createServer((_, response) => {
    backend.received++;
    setTimeout(() => response.end("ok"), fromMs + (toMs - fromMs) * rng.next());
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  backend.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return backend;
}

const EACH = ["--rate", "40", "--duration", "500ms", "--warmup", "0s", "--quantities", "p50"];

async function load(...args: readonly string[]): Promise<Finished> {
  for (let attempt = 1; ; attempt++) {
    const finished = await startCli(["load", ...EACH, ...args], { cwd: directory }).finished;
    if (finished.exitCode !== 5 || attempt === ATTEMPTS) return finished;
  }
}

test("a service that takes three times as long is worse: exit code 4, by 4 + 4 runs of one quantity", async () => {
  const [a, b] = [await startBackend(300), await startBackend(900)];
  const { exitCode, stdout, stderr } = await load(
    "--runs",
    "4",
    "--json",
    "--compare",
    a.url,
    b.url,
  );
  expect(exitCode, stderr).toBe(4);
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({
    schema: "bobtail.compare/1",
    worse: true,
    runs_a: 4,
    runs_b: 4,
    quantities: [{ name: "p50", verdict: "worse", unit: "ms" }],
  });
  expect(result.quantities[0].change).toBeGreaterThan(1);
});

test("two services that answer nothing are not found equal, nor is their noise a calibration", async () => {
  const args = ["--runs", "4", "--compare", "http://127.0.0.1:1/", "http://127.0.0.1:1/"];
  const { exitCode, stderr } = await load(...args);
  expect([3, 5]).toContain(exitCode);
  expect(stderr).toContain("not one of 80 requests was answered well: nothing listens there");
  const calibration = await load("--runs", "4", "--calibrate", "http://127.0.0.1:1/");
  expect([3, 5]).toContain(calibration.exitCode);
  expect(readdirSync(directory)).toEqual([]);
});

test("Ctrl-C prints the comparison of the runs that are whole, marked as partial", async () => {
  const [a, b] = [await startBackend(150), await startBackend(150)];
  const args = ["load", ...EACH, "--runs", "50", "--compare", a.url, b.url];
  const cli = startCli(args, { cwd: directory });
  // Twenty requests a run: one is whole on either side when the third of B has begun.
  const timer = setInterval(() => {
    if (b.received <= 20 || a.received <= 20) return;
    clearInterval(timer);
    cli.child.kill("SIGINT");
  }, 5);
  const { exitCode, stdout, stderr } = await cli.finished;
  clearInterval(timer);
  // The generator may have been the bottleneck first; then that is the reason.
  expect([130, 5], stderr).toContain(exitCode);
  const text = stdout + stderr;
  expect(text).toMatch(
    /Partial: it (was stopped|ended) after \d+ \+ \d+ of 50 \+ 50 runs|nothing to compare/,
  );
});

test("a calibrated noise floor refuses thresholds below it, before anything is sent", async () => {
  const [a, b] = [await startBackend(200, 400), await startBackend(200, 400)];
  const calibration = await load("--runs", "4", "--calibrate", "--json", a.url);
  expect(calibration.exitCode, calibration.stderr).toBe(0);
  const [floor] = JSON.parse(calibration.stdout).floors;
  expect(floor).toMatchObject({ name: "p50", unit: "ms", scale: "ratio" });
  expect(floor.change).toBeGreaterThan(0);
  const refused = await load("--threshold", "0.001%,0ms", "--runs", "4", "--compare", a.url, b.url);
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toMatch(/p50: .* is below/);
  expect(refused.stderr).toContain("--threshold p50=");
  expect(b.received).toBe(0);
});

test.each([
  [["--compare", "http://127.0.0.1:1/a", "http://127.0.0.1:1/b"], "they differ in requests"],
  [["--compare", "http://127.0.0.1:1/"], "two sides"],
  [["--compare", "http://127.0.0.1:1/", "run.json"], "run.json is a file"],
  [["--compare", "127.0.0.1:1", "127.0.0.1:2"], "Write http://127.0.0.1:1."],
  [["--calibrate"], "one URL"],
  [["--calibrate", "--out", "x.html", "http://127.0.0.1:1/"], "--calibration FILE"],
  [["--runs", "4", "http://127.0.0.1:1/"], "belongs to a comparison"],
  [
    ["--fail-if", "p99>1ms", "--compare", "http://127.0.0.1:1/", "http://127.0.0.1:2/"],
    "--fail-if",
  ],
])("what means nothing is a mistake of usage: %j", async (args, message) => {
  const { exitCode, stderr } = await startCli(["load", ...args], { cwd: directory }).finished;
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
});
