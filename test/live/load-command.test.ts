import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, expect, test } from "vitest";
import { runCli, startCli } from "./cli-process.testbed.ts";

const folder = mkdtempSync(join(tmpdir(), "bobtail-load-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const cleanup: (() => void)[] = [];
afterEach(() => {
  for (const close of cleanup.splice(0)) close();
});

interface Target {
  readonly url: string;
  seen(): number;
  close(): void;
}

async function serve(listener: RequestListener): Promise<Target> {
  let seen = 0;
  const server = createServer((request, response) => {
    seen++;
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  cleanup.push(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    seen: () => seen,
    close,
  };
}

const answer: RequestListener = (_, response) => {
  response.end("ok");
};
const file = (name: string): string => join(folder, name);
/** A machine with other work may be late by itself, which is a verdict of its own; what the command makes of it is not left open. */
const codeWhen = (verdict: string, otherwise: number): number => (verdict === "ok" ? otherwise : 5);

test("one run is a report on stdout, four files that agree with it, and nothing on stderr", async () => {
  const { url } = await serve(answer);
  const outs = ["run.json", "run.hlog", "run.html", "run.csv"].map(file);
  const flags = ["--rate", "200", "--duration", "2s", "--warmup", "200ms"];
  const { exitCode, stdout, stderr } = await runCli(
    ...["load", url, ...flags, ...outs.flatMap((out) => ["--out", out])],
  );
  const stored = JSON.parse(readFileSync(file("run.json"), "utf8"));
  expect([exitCode, stderr]).toEqual([codeWhen(stored.check.verdict, 0), ""]);
  expect(stdout).toContain("planned 400 = sent 400 + dropped 0 + unsent 0");
  expect(stored).toMatchObject({
    schema: "bobtail.load/1",
    kind: "run",
    measured: { ledger: { planned: 400, ok: 400 } },
    warmup: { ledger: { planned: 40, ok: 40 } },
  });
  expect(readFileSync(file("run.html"), "utf8")).toContain("<svg");
  const rows = readFileSync(file("run.csv"), "utf8").trimEnd().split("\n").slice(1);
  expect(rows.reduce((sum, row) => sum + Number(row.split(",")[4]), 0)).toBe(400);

  const [again, fromLog, plan, both] = await Promise.all([
    runCli("load", "report", file("run.json")),
    runCli("load", "report", file("run.hlog")),
    runCli("plan", file("run.hlog")),
    runCli("load", "report", file("run.json"), file("run.hlog")),
  ]);
  expect(again).toEqual({ exitCode, stdout, stderr: "" });
  expect(fromLog.stdout).toContain("planned 400 = sent 400 + dropped 0 + unsent 0");
  expect(plan).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^400 latencies/) });
  expect(both.stdout).toMatch(/run\.json +run\.hlog/);
});

test("a threshold that is broken is named, and is the exit code", async () => {
  const { url } = await serve((_, response) => response.writeHead(503).end());
  const { exitCode, stdout } = await runCli(
    ...["load", url, "--rate", "100", "--duration", "1s", "--warmup", "0s", "--json"],
    ...["--fail-if", "errors>1%", "--fail-if", "p90>1h", "--fail-if", "sent<99%"],
  );
  const { verdicts, check, response } = JSON.parse(stdout);
  expect(verdicts).toEqual([
    { condition: "errors>1%", verdict: "failed", measured: "100.0 %" },
    { condition: "p90>1h", verdict: "failed", measured: "unbounded (100.0 % failed)" },
    { condition: "sent<99%", verdict: "held", measured: "100.0 %" },
  ]);
  expect(response).toMatchObject({ p50_ms: null, p50_ms_reason: "unbounded: 100.0 % failed" });
  expect(exitCode).toBe(codeWhen(check.verdict, 3));
});

test("a target where nobody listens is told on stderr in spite of --quiet, and fails without a threshold", async () => {
  const { url, close } = await serve(answer);
  close();
  const out = file("refused.json");
  const { exitCode, stdout, stderr } = await runCli(
    ...["load", url, "--duration", "500ms", "--warmup", "0s", "--quiet", "--out", out],
  );
  const { verdict } = JSON.parse(readFileSync(out, "utf8")).check;
  expect(exitCode).toBe(codeWhen(verdict, 3));
  expect(stderr).toBe(
    `bobtail: error: ${url.slice(0, -1)}: not one of 25 requests was answered well: nothing listens there\n` +
      "  See that the target runs, and its port.\n",
  );
  expect(stdout).toContain("ECONNREFUSED 25");
  expect(await runCli("load", "report", out)).toEqual({ exitCode, stdout, stderr });
});

test("requests beyond the cap are the generator's failing, and end with its own code", async () => {
  const { url } = await serve(() => undefined);
  const { exitCode, stdout } = await runCli(
    ...["load", url, "--rate", "100", "--duration", "500ms", "--warmup", "0s"],
    ...["--timeout", "1s", "--max-in-flight", "7"],
  );
  expect(exitCode).toBe(5);
  expect(stdout).toContain("planned 50 = sent 7 + dropped 43 + unsent 0");
  expect(stdout).toMatch(/p50 +unbounded \(100\.0 % failed\)|p50 +~unbounded/);
  expect(stdout).toContain("Self-check: generator-limited");
});

test.each([
  {
    when: "in the warm-up",
    flags: ["--warmup", "20s"],
    listener: answer,
    seen: 5,
    said: /stopped during the warm-up/,
  },
  {
    when: "while it measures",
    flags: ["--warmup", "0s", "--duration", "20s"],
    listener: answer,
    seen: 20,
    said: /stopped after/,
  },
  {
    when: "while it waits for the last answers",
    flags: ["--warmup", "0s", "--duration", "200ms", "--timeout", "20s"],
    listener: () => undefined,
    seen: 20,
    // The last request is planned just before the 200 ms are over, and may be seen before they are.
    thenMs: 1_000,
    said: /stopped while the last answers were waited for/,
  },
])(
  "Ctrl-C $when gives the report of what was done, marked as partial",
  async ({ flags, listener, seen, thenMs = 0, said }) => {
    const target = await serve(listener);
    const out = file("partial.json");
    const cli = startCli(["load", target.url, "--rate", "100", "--out", out, ...flags]);
    await expect.poll(target.seen, { timeout: 20_000 }).toBeGreaterThanOrEqual(seen);
    await sleep(thenMs);
    cli.child.kill("SIGINT");
    const { exitCode, stdout } = await cli.finished;
    expect(exitCode).toBe(130);
    expect(stdout).toMatch(said);
    const { partial, measured } = JSON.parse(readFileSync(out, "utf8"));
    const { planned, sent, dropped, unsent } = measured.ledger;
    expect([partial, planned]).toEqual([true, sent + dropped + unsent]);
    expect((await runCli("load", "report", out)).stdout).toMatch(said);
  },
);

test("a sweep that is stopped keeps its rows", async () => {
  const target = await serve(answer);
  const cli = startCli([
    ...[
      "load",
      target.url,
      "--sweep",
      "20..2000:x2",
      "--duration",
      "1s",
      "--warmup",
      "0s",
      "--json",
    ],
  ]);
  await expect.poll(target.seen, { timeout: 20_000 }).toBeGreaterThan(25);
  cli.child.kill("SIGTERM");
  const { exitCode, stdout } = await cli.finished;
  expect(exitCode).toBe(143);
  const { runs, stopped } = JSON.parse(stdout);
  expect([runs.length > 0, runs.at(-1).partial, stopped]).toEqual([
    true,
    true,
    "stopped by a signal",
  ]);
});

test("a server that dies in the middle is told by the kind of failure, and the run goes on to its end", async () => {
  const target = await serve((_, response) => {
    if (target.seen() === 30) target.close();
    else response.end("ok");
  });
  const { stdout } = await runCli(
    ...[
      "load",
      target.url,
      "--rate",
      "100",
      "--duration",
      "1s",
      "--warmup",
      "0s",
      "--arrivals",
      "uniform",
    ],
  );
  expect(stdout).toContain("planned 100 = sent 100 + dropped 0 + unsent 0");
  expect(stdout).toMatch(/transport errors: .*ECONNREFUSED \d+/);
  expect(stdout).toMatch(/p90 +~?unbounded \(7\d\.0 % failed\)/);
});

test("a reader of stdout that goes away stops neither the run nor its files", async () => {
  const { url } = await serve(answer);
  const out = file("unread.json");
  const cli = startCli(["load", url, "--duration", "500ms", "--warmup", "0s", "--out", out]);
  cli.child.stdout?.destroy();
  const { exitCode, stderr } = await cli.finished;
  expect(stderr).toBe("");
  const { check, measured } = JSON.parse(readFileSync(out, "utf8"));
  expect([exitCode, measured.ledger.ok]).toEqual([codeWhen(check.verdict, 0), 25]);
});

test.skipIf(!existsSync("/dev/full"))(
  "a disk that is full under stdout is told, and stops neither the run nor its files",
  async () => {
    const { url } = await serve(answer);
    const out = file("full.json");
    const flags = ["--duration", "500ms", "--warmup", "0s", "--quiet", "--out", out];
    const cli = startCli(["load", url, ...flags], { stdoutFile: "/dev/full" });
    expect(await cli.finished).toMatchObject({
      exitCode: 1,
      stderr: "bobtail: error: standard output cannot be written (ENOSPC)\n",
    });
    expect(JSON.parse(readFileSync(out, "utf8")).measured.ledger.ok).toBe(25);
  },
);

test("a file that cannot be written, or whose ending says nothing, is told before anything is sent", async () => {
  const target = await serve(answer);
  symlinkSync("/no/such/run.json", file("link.json"));
  for (const out of ["/no/such/run.json", "run.txt", folder, file("link.json")]) {
    const { exitCode, stdout, stderr } = await runCli("load", target.url, "--out", out);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/--out .*: .*\n {2}Name a file/);
  }
  expect(target.seen()).toBe(0);
});

test("event streams are told by their first event and the gaps between events", async () => {
  const { url } = await serve((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    // One after the other: timers of different lengths may come out of order when they are late.
    setTimeout(() => {
      response.write("data: 2\n\n");
      setTimeout(() => response.end("data: 3\n\n"), 20);
    }, 20);
  });
  const { stdout } = await runCli(
    ...["load", url, "--sse", "--rate", "50", "--duration", "1s", "--warmup", "0s"],
  );
  expect(stdout).toMatch(/first event +50 /);
  expect(stdout).toMatch(/between events +100 /);
});

test("a stored file that was cut is refused with its place, and nothing is printed", async () => {
  const { url } = await serve(answer);
  const out = file("whole.json");
  await runCli("load", url, "--duration", "500ms", "--warmup", "0s", "--quiet", "--out", out);
  writeFileSync(file("cut.json"), readFileSync(out, "utf8").slice(0, 3_000));
  const { exitCode, stdout, stderr } = await runCli("load", "report", file("cut.json"));
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toMatch(
    /cut\.json: this is not JSON, or it is cut short.*\n {2}It may have been cut/,
  );
  expect(existsSync(out)).toBe(true);
});

test("the help of the command names every part of it", async () => {
  const { exitCode, stdout } = await runCli("load", "--help");
  expect(exitCode).toBe(0);
  for (const part of [
    "--sweep",
    "--find-limit",
    "--fail-if",
    "--i-own-this",
    "--compare",
    "report",
  ])
    expect(stdout).toContain(part);
});
