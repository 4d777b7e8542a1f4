import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { seededRng } from "../../packages/bobtail/src/core/rng.ts";

const MAIN = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bobtail-plan-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function bobtail(args: readonly string[], input: string | Buffer = ""): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], {
      env: { ...process.env, NO_COLOR: "1" },
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(input);
  });
}

const rng = seededRng(7);
const latencies = Array.from(
  { length: 20_000 },
  () => 3 + 5 * rng.next() + (rng.next() < 0.02 ? 60 + 60 * rng.next() : 0),
);
const csv = `latency_ms\n${latencies.map((ms) => ms.toFixed(3)).join("\n")}\n`;

describe("bobtail plan", () => {
  test("prints leaf targets, the table and a policy from standard input", async () => {
    const { code, stdout, stderr } = await bobtail(["plan", "-", "--fan-out", "10"], csv);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("20,000 latencies (csv)");
    expect(stdout).toMatch(/request p99 +leaf p99\.90/);
    expect(stdout).toContain("best delay and probability");
    expect(stdout).toContain("hedge: { after:");
  });

  test("unpacks gzip from a file and from standard input, and refuses what is cut short", async () => {
    const packed = gzipSync(csv);
    const file = join(folder, "access.log.1.gz");
    writeFileSync(file, packed);
    const plain = await bobtail(["plan", "-"], csv);
    expect((await bobtail(["plan", file])).stdout).toBe(plain.stdout);
    expect((await bobtail(["plan", "-"], packed)).stdout).toBe(plain.stdout);
    const cut = await bobtail(["plan", "-"], packed.subarray(0, packed.length - 20));
    expect([cut.code, cut.stdout]).toEqual([2, ""]);
    expect(cut.stderr).toMatch(/<stdin>:\d+: the gzip data is cut short/);
  });

  test("writes a policy that bobtail check accepts", async () => {
    const file = join(folder, "log.csv");
    writeFileSync(file, csv);
    const planned = await bobtail(["plan", file, "--budget", "1%", "--yaml"]);
    expect(planned.code).toBe(0);
    const checked = await bobtail(["check", "-"], planned.stdout);
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining("ok, ")]);
  });

  test("as JSON is one object", async () => {
    const { stdout } = await bobtail(["plan", "-", "--json", "--load", "60%"], csv);
    expect(JSON.parse(stdout)).toMatchObject({
      schema: "bobtail.plan/1",
      latencies: 20_000,
      load: { load_ratio: 0.6, safe: true },
    });
  });

  test("runs the proposal in the simulator before it prints it, when asked to", async () => {
    const { code, stdout } = await bobtail(["plan", "-", "--fan-out", "20", "--verify"], csv);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Simulated: [\d,]+ requests by the policy below/);
    const correlated = ["--replica-correlation", "10%", "--leaf-correlation", "20%"];
    const shared = await bobtail(["plan", "-", "--verify", ...correlated], csv);
    expect(shared.code).toBe(0);
    expect(shared.stdout.replace(/\s+/g, " ")).toContain(
      "(second copies that meet what the first met in 10.0 %, 20.0 % of the slowness striking whole requests)",
    );
    const cut = await bobtail(
      ["plan", "-", "--verify", "--censored-field", "cut"],
      "latency_ms,cut\n5,0\n9,1\n",
    );
    expect([cut.code, cut.stderr]).toEqual([2, expect.stringContaining("is not known")]);
  });

  test("exits with 3 where no hedge meets the objective, and says what would", async () => {
    const args = ["plan", "-", "--fan-out", "100", "--slo", "p99<15ms"];
    const { code, stdout } = await bobtail(args, csv);
    expect(code).toBe(3);
    expect(stdout).toContain("Lower the fan-out to");
    const met = await bobtail(["plan", "-", "--fan-out", "10", "--slo", "p99<80ms"], csv);
    expect([met.code, met.stdout]).toEqual([0, expect.stringContaining("met: p99 < 80.0 ms")]);
  });

  test("exits with 5 where the log is too short to tell", async () => {
    const args = ["plan", "-", "--slo", "p99<1s"];
    const { code, stdout } = await bobtail(args, "latency_ms\n5\n6\n");
    expect([code, stdout]).toEqual([5, expect.stringContaining("not known: p99 < 1,000 ms")]);
  });

  test("reports a log that makes no sense with place, reason and remedy, and exits with 2", async () => {
    const unit = await bobtail(["plan", "-"], "12\n13\n");
    expect(unit.code).toBe(2);
    expect(unit.stderr).toContain("<stdin>:1: the latencies have no unit");
    expect(unit.stderr).toContain("--unit ns, us, ms or s");
    const empty = await bobtail(["plan", "-"], "");
    expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining("nothing in it")]);
    const flag = await bobtail(["plan", "-", "--slo", "fast"], csv);
    expect([flag.code, flag.stderr]).toEqual([2, expect.stringContaining("as 'p99<50ms'")]);
  });
});
