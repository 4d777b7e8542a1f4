import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli, startCli } from "./cli-process.testbed.ts";

test("the list names targets with their version or how to get them, and scenarios with their question", async () => {
  const { exitCode, stdout } = await runCli("trial", "--list", "--json");
  const list = JSON.parse(stdout);
  expect([exitCode, list.schema]).toEqual([0, "bobtail.trial-list/1"]);
  for (const target of list.targets)
    expect(target.version ?? target.remedy, target.name).toMatch(/\S/);
  for (const { question } of list.scenarios) expect(question).toMatch(/\?$/);
  const text = await runCli("trial", "--list");
  expect(text.stdout).toContain("nginx/round-robin");
  for (const line of text.stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(100);
});

test("a configuration is printed without anything being run", async () => {
  const { exitCode, stdout } = await runCli("trial", "nginx/least-conn", "--show-config");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/least_conn;[\s\S]*server 127\.0\.0\.1:9001/);
  const own = ["--url", "http://127.0.0.1:1", "--ports", "9101..9104", "--show-config"];
  expect(await runCli("trial", ...own)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/server 127\.0\.0\.1:9104;/),
  });
});

test.each([
  [[], "there is nothing to try"],
  [["all", "ngin"], 'there is no target named "ngin"'],
  [["ngin"], 'there is no target named "ngin"'],
  [["bobtail", "--scenario", "slowly"], 'there is no scenario named "slowly"'],
  [["bobtail", "--url", "ftp://x"], "is not the address of a balancer"],
  [["bobtail", "--load", "2"], "Expected a share of the capacity"],
  [["bobtail", "--mean", "10"], "10 of what? Write 10ms or 10s."],
  [["bobtail", "--fail-below", "Z"], "Expected one of A, B"],
  [["bobtail", "--html", "/no/such/place/x.html"], "there is no such directory"],
])("a mistake of usage is told at once, with exit code 2: %j", async (args, message) => {
  const { exitCode, stdout, stderr } = await runCli("trial", ...args);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(message);
});

test("Ctrl-C gives the partial report and ends everything that was started", async () => {
  const { child, said, finished } = startCli([
    ...["trial", "bobtail", "--scenario", "healthy", "--scenario", "slow"],
    ...["--load", "10%", "--seconds", "60", "--json"],
  ]);
  await said(/trial: 2 cells/);
  const started = (): readonly number[] => descendantsOf(child.pid ?? -1);
  // The fleet, the keeper of the target, and the target.
  await expect.poll(() => started().length, { timeout: 20_000 }).toBeGreaterThanOrEqual(3);
  await said(/sent/);
  const children = started();
  child.kill("SIGINT");
  const { exitCode, stdout } = await finished;
  expect(exitCode).toBe(130);
  const json = JSON.parse(stdout);
  expect(json).toMatchObject({ partial: true, planned_cells: 2 });
  expect(json.cells.map(({ state }: { state: string }) => state)).toEqual(["stopped"]);
  expect(json.cells[0].grade).toBe(null);
  await expect.poll(() => children.filter(isAlive)).toEqual([]);
});

test("Ctrl-C while a target is starting gives the partial report, and ends what was started", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bobtail-trial-test-"));
  try {
    // Tells its version, and then runs without ever serving.
    const nginx = join(folder, "nginx");
    const started = join(folder, "started");
    writeFileSync(
      nginx,
      `#!/bin/sh\n[ "$1" = -v ] && echo nginx version: nginx/9.9.9 && exit\necho $$ > ${started}\nexec sleep 600\n`,
    );
    chmodSync(nginx, 0o755);
    const args = ["trial", "nginx/round-robin", "bobtail", "--scenario", "healthy", "--json"];
    const { child, finished } = startCli(args, { env: { BOBTAIL_NGINX: nginx } });
    await expect.poll(() => existsSync(started), { timeout: 20_000 }).toBe(true);
    const children = descendantsOf(child.pid ?? -1);
    expect(children.length).toBeGreaterThanOrEqual(3);
    child.kill("SIGINT");
    const { exitCode, stdout } = await finished;
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ partial: true, planned_cells: 2, cells: [] });
    await expect.poll(() => children.filter(isAlive)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function descendantsOf(pid: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // Not a process, or one that ended meanwhile.
    }
  }
  const found: number[] = [pid];
  for (let i = 0; i < found.length; i++)
    for (const [one, parent] of parents) if (parent === found[i]) found.push(one);
  return found.slice(1);
}
