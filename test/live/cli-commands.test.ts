import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runCli, startCli } from "./cli-process.testbed.ts";

const folder = mkdtempSync(join(tmpdir(), "bobtail-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

const good = join(folder, "good.yaml");
const bad = join(folder, "bad.yaml");
writeFileSync(good, "services: { s: { endpoints: [http://127.0.0.1:1, http://127.0.0.1:2] } }\n");
writeFileSync(bad, "services: { s: { endpoint: [http://127.0.0.1:1], deadline: 5 } }\n");

test("help lists the commands, and each command's help has examples", async () => {
  const help = await runCli("--help");
  expect(help).toMatchObject({ exitCode: 0, stderr: "" });
  for (const command of ["proxy", "init", "check", "schema"]) {
    expect(help.stdout).toContain(`\n  ${command} `);
    const own = await runCli(command, "--help");
    expect([command, own.exitCode, own.stdout.includes("Examples:")]).toEqual([command, 0, true]);
  }
});

test("the version is printed", async () => {
  const { stdout, exitCode } = await runCli("--version");
  expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
});

test("wrong usage ends with 2, says what was meant, and leaves stdout empty", async () => {
  const cases: [string[], RegExp][] = [
    [["chek"], /unknown command 'chek'\n\(Did you mean check\?\)/],
    [["check"], /missing required argument 'file'/],
    [["check", good, "--jsn"], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    [["proxy"], /needs --config FILE, or --listen ADDRESS/],
    [["proxy", "--config", good, "--to", "http://h:1"], /cannot be combined with --to/],
    [["proxy", "--config", good], /has no listener/],
    [
      ["proxy", "--listen", "nowhere", "--to", "h:1"],
      /--listen: .*\n.*\n--to: "h:1" has no scheme/,
    ],
    [["proxy", "--listen", ":0", "--to", "http://h:1", "--hedge", "auto"], /--hedge: 1 hedge/],
    [["init", "--to", "http://h:1", "--to", "http://h:1/"], /given twice/],
    [[], /Usage: bobtail/],
  ];
  for (const [args, message] of cases) {
    const result = await runCli(...args);
    expect([args, result.exitCode, result.stdout]).toEqual([args, 2, ""]);
    expect(result.stderr).toMatch(message);
  }
});

test("check says ok with 0, and every mistake with 2", async () => {
  expect(await runCli("check", good)).toEqual({
    exitCode: 0,
    stdout: `${good}: ok, 0 listeners, 1 service, 2 endpoints\n`,
    stderr: "",
  });
  const { exitCode, stdout, stderr } = await runCli("check", good, bad);
  expect([exitCode, stderr]).toEqual([2, ""]);
  expect(stdout).toContain(`${bad}:1:18: error: services.s: unknown key "endpoint"`);
  expect(stdout).toContain(`${bad}:1:60: error: services.s.deadline: a duration needs a unit`);
  expect(stdout).toContain(`${bad}: 2 mistakes`);
});

test("check --json prints one object with every place", async () => {
  const { exitCode, stdout } = await runCli("check", good, bad, join(folder, "none"), "--json");
  const report = JSON.parse(stdout);
  expect(exitCode).toBe(2);
  expect(report).toMatchObject({
    schema: "bobtail.check/1",
    ok: false,
    files: [
      { file: good, ok: true, problems: [] },
      { file: bad, ok: false },
      { ok: false, problems: [{ line: 1, column: 1, reason: "no such file" }] },
    ],
  });
  expect(report.files[1].problems).toContainEqual({
    line: 1,
    column: 60,
    path: "services.s.deadline",
    reason: "a duration needs a unit, received the number 5",
    remedy: "Write 5ms or 5s.",
  });
});

test("colour is for those who ask; NO_COLOR wins", async () => {
  const colourStart = String.fromCharCode(27);
  const coloured = (env: Record<string, string>) =>
    startCli(["check", bad], { env }).finished.then(({ stdout }) => stdout.includes(colourStart));
  expect(await coloured({})).toBe(false);
  expect(await coloured({ FORCE_COLOR: "1" })).toBe(true);
  expect(await coloured({ FORCE_COLOR: "1", NO_COLOR: "1" })).toBe(false);
});

test("schema prints a JSON Schema, whole, and a reader that leaves early is no error", async () => {
  const { exitCode, stdout } = await runCli("schema");
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ required: ["services"] });

  const early = startCli(["schema"]);
  early.child.stdout?.destroy();
  expect(await early.finished).toMatchObject({ exitCode: 0, stderr: "" });
});

test("init writes a file that passes check, and overwrites only when told to", async () => {
  const file = join(folder, "new.yaml");
  const to = ["--to", "http://127.0.0.1:1", "--to", "http://127.0.0.1:2"];
  expect(await runCli("init", file, ...to)).toMatchObject({ exitCode: 0, stdout: "" });
  const written = readFileSync(file, "utf8");
  expect(written).toContain("- http://127.0.0.1:2\n");
  expect((await runCli("check", file)).exitCode).toBe(0);

  writeFileSync(file, "mine");
  const refused = await runCli("init", file, ...to);
  expect(refused.exitCode).toBe(2);
  expect(refused.stderr).toMatch(/exists\n.*--force/);
  expect(readFileSync(file, "utf8")).toBe("mine");

  expect((await runCli("init", file, "--force", ...to)).exitCode).toBe(0);
  expect(readFileSync(file, "utf8")).toBe(written);
  expect((await runCli("init", "-", ...to)).stdout).toBe(written);
  expect((await runCli("init", join(folder, "no", "such.yaml"))).exitCode).toBe(2);
});
