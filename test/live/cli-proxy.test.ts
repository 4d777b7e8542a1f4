import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import {
  type Backend,
  type CliProcess,
  runCli,
  startBackend,
  startCli,
} from "./cli-process.testbed.ts";

const folder = mkdtempSync(join(tmpdir(), "bobtail-proxy-"));
const started: CliProcess[] = [];
let one: Backend;
let two: Backend;

beforeAll(async () => {
  one = await startBackend("one");
  two = await startBackend("two");
});
afterEach(async () => {
  for (const { child, finished } of started.splice(0)) {
    child.kill("SIGKILL");
    await finished;
  }
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  for (const { server } of [one, two]) {
    server.close();
    server.closeAllConnections();
  }
});

/** Starts the proxy and waits until it says where it listens. */
async function startProxy(...args: string[]): Promise<{ cli: CliProcess; url: string }> {
  const cli = startCli(["proxy", ...args]);
  started.push(cli);
  const [, url = ""] = await cli.said(/listening on (\S+) for .*\n/);
  return { cli, url };
}

/** The body, or the reason why there is none. Each request has a connection of its own. */
function get(url: string): Promise<string> {
  return new Promise((resolve) => {
    request(url, { agent: false }, (response) => {
      let body = "";
      response.on("data", (chunk) => {
        body += String(chunk);
      });
      response.on("end", () => resolve(body));
      response.on("error", (error) => resolve(error.message));
    })
      .on("error", (error) => resolve(error.message))
      .end();
  });
}

const policy = (...urls: string[]) =>
  `listen: { address: "127.0.0.1:0", service: s }\nservices: { s: { endpoints: [${urls.join(", ")}] } }\n`;

test("the quick form proxies, logs to stdout when asked, and ends with 0 on SIGTERM", async () => {
  const to = ["--to", one.url, "--to", two.url];
  const options = ["--hedge", "auto", "--budget", "5%", "--admin", "127.0.0.1:0", "--access-log"];
  const cli = startCli(["proxy", "--listen", "127.0.0.1:0", ...to, ...options]);
  started.push(cli);
  const [line, url = ""] = await cli.said(/listening on (\S+) for .*\n/);
  expect(line).toContain("2 endpoints, two-choices on peak-ewma, hedge auto, budget 5%");
  const [, admin = ""] = await cli.said(/admin on (\S+):/);
  expect(["one", "two"]).toContain(await get(url));
  expect(await get(`${admin}/healthz`)).toContain("ok");

  cli.child.kill("SIGTERM");
  const { exitCode, stdout, stderr } = await cli.finished;
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/SIGTERM: draining .*\nbobtail: drained\n$/);
  const [first = ""] = stdout.split("\n");
  expect(JSON.parse(first)).toMatchObject({ status: 200, path: "/" });
});

test("a request under way when the proxy is told to stop gets its answer", async () => {
  const { cli, url } = await startProxy("--listen", "127.0.0.1:0", "--to", one.url);
  const arrived = new Promise((done) => one.server.once("request", done));
  const answer = get(`${url}/slow`);
  await arrived;
  cli.child.kill("SIGTERM");
  await cli.said(/draining/);
  one.release();
  expect(await answer).toBe("one");
  expect((await cli.finished).exitCode).toBe(0);
});

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("a second %s ends at once with %i", async (signal, code) => {
  const { cli, url } = await startProxy("--listen", "127.0.0.1:0", "--to", one.url);
  const arrived = new Promise((done) => one.server.once("request", done));
  const answer = get(`${url}/slow`);
  await arrived;
  cli.child.kill(signal);
  await cli.said(/draining/);
  cli.child.kill(signal);
  expect((await cli.finished).exitCode).toBe(code);
  await answer;
  one.release();
});

test("requests that outlast the grace are ended", async () => {
  const args = ["--listen", "127.0.0.1:0", "--to", one.url, "--grace", "1ms"];
  const { cli, url } = await startProxy(...args);
  const arrived = new Promise((done) => one.server.once("request", done));
  const answer = get(`${url}/slow`);
  await arrived;
  cli.child.kill("SIGTERM");
  expect((await cli.finished).exitCode).toBe(0);
  expect(await answer).not.toBe("one");
  one.release();
});

test("an address that is taken is named with a remedy, and ends with 2", async () => {
  const address = one.url.replace("http://", "");
  const { exitCode, stderr } = await runCli("proxy", "--listen", address, "--to", two.url);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(`${address} is taken by another program\n  Stop it (`);
});

test("a broken policy file ends with 2 and shows its mistakes", async () => {
  const file = join(folder, "broken.yaml");
  writeFileSync(file, policy("ftp://h"));
  const { exitCode, stdout, stderr } = await runCli("proxy", "--config", file);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(`${file}:2:30: error: services.s.endpoints[0]: the scheme ftp://`);
});

test("a changed policy file is in force without a signal; one with mistakes is not", async () => {
  const file = join(folder, "changing.yaml");
  writeFileSync(file, policy(one.url));
  const { cli, url } = await startProxy("--config", file);
  expect(await get(url)).toBe("one");

  writeFileSync(file, policy(two.url));
  await cli.said(/changed: .* is in force/);
  expect(await get(url)).toBe("two");

  writeFileSync(file, policy("ftp://h"));
  await cli.said(/error: services\.s\.endpoints\[0\][\s\S]*the old policy stays in force/);
  expect(await get(url)).toBe("two");

  rmSync(file);
  await cli.said(/no such file[\s\S]*the old policy stays in force/);
  writeFileSync(file, policy(one.url));
  await cli.said(/changed: .* is in force/);
  expect(await get(url)).toBe("one");
});

test("a policy swapped by a symbolic link to its folder is noticed", async () => {
  for (const [name, backend] of [["a", one] as const, ["b", two] as const]) {
    writeFileSync(join(folder, `${name}.yaml`), policy(backend.url));
  }
  const link = join(folder, "current.yaml");
  symlinkSync("a.yaml", link);
  const { cli, url } = await startProxy("--config", link);
  expect(await get(url)).toBe("one");
  symlinkSync("b.yaml", join(folder, "next.yaml"));
  renameSync(join(folder, "next.yaml"), link);
  await cli.said(/changed: .* is in force/);
  expect(await get(url)).toBe("two");
});

test("SIGHUP reads the file again at once, and is harmless in the quick form", async () => {
  const file = join(folder, "hup.yaml");
  writeFileSync(file, policy(one.url));
  const { cli } = await startProxy("--config", file);
  cli.child.kill("SIGHUP");
  await cli.said(/SIGHUP: .* is in force/);

  const quick = await startProxy("--listen", "127.0.0.1:0", "--to", one.url);
  quick.cli.child.kill("SIGHUP");
  await quick.cli.said(/no policy file/);
  expect(await get(quick.url)).toBe("one");
});

test("a reader of the access log that goes away does not end the proxy", async () => {
  const args = ["--listen", "127.0.0.1:0", "--to", one.url, "--access-log"];
  const { cli, url } = await startProxy(...args);
  cli.child.stdout?.destroy();
  for (let i = 0; i < 5; i++) expect(await get(url)).toBe("one");
  cli.child.kill("SIGTERM");
  expect(await cli.finished).toMatchObject({
    exitCode: 0,
    stderr: expect.not.stringMatching(/EPIPE/),
  });
});
