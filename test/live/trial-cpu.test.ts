import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { processCpuMs } from "../../packages/cli/src/trial/process-cpu.ts";

/** A parent that does nothing, whose child works for a while and then waits. */
const FAMILY = `
const busy = "for (const end = process.cpuUsage().user + 3e5; process.cpuUsage().user < end; ); setInterval(() => {}, 1e3)";
require("node:child_process").spawn(process.execPath, ["-e", busy], { stdio: "inherit" });
process.on("SIGTERM", () => process.exit());
`;

test("the time of a target is that of its workers too, and of an ended one there is none", async (context) => {
  if (!existsSync(`/proc/self/task/${process.pid}/children`)) {
    context.skip("this system does not tell the children of a process");
    return;
  }
  const parent = spawn(process.execPath, ["-e", FAMILY], { detached: true, stdio: "ignore" });
  const pid = parent.pid ?? -1;
  try {
    // The parent's own start takes a fraction of it.
    await expect.poll(() => processCpuMs(pid) ?? 0, { timeout: 20_000 }).toBeGreaterThan(300);
  } finally {
    process.kill(-pid, "SIGKILL");
  }
  await once(parent, "exit");
  expect(processCpuMs(pid)).toBeUndefined();
});
