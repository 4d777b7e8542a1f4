import { readdirSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { RunningTarget } from "../../packages/cli/src/trial/targets/target.ts";
import { trialTargets } from "../../packages/cli/src/trial/targets/trial-targets.ts";
import {
  freshDirectory,
  groupMembers,
  startBackends,
  type TrialBackends,
} from "./trial-targets.testbed.ts";

let backends: TrialBackends;
let directory: ReturnType<typeof freshDirectory>;
let running: RunningTarget | undefined;

beforeAll(async () => {
  backends = await startBackends(3);
});
afterAll(() => backends.close());
beforeEach(() => {
  directory = freshDirectory();
  backends.clear();
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  directory.remove();
});

async function inTurns(requests: number, lanes: number, send: () => Promise<void>): Promise<void> {
  let left = requests;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await send();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

test.for(trialTargets().map((target) => [target.name, target] as const))(
  "%s starts, spreads requests, passes status and body, and leaves nothing behind",
  async ([name, target], { skip }) => {
    const found = await target.find();
    if ("missing" in found) return skip(`${found.missing}. ${found.remedy}`);
    expect(found.version).toMatch(/^\d+\.\d+/);
    running = await target.start(backends.urls, {
      directory: directory.path,
      healthPath: "/healthz",
    });
    const { url, pid = -1, config } = running;

    await inTurns(150, 10, async () => {
      const response = await fetch(`${url}/q`);
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    });
    const { counts } = backends;
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(150);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(5);
    if (/round-?robin$/.test(name)) {
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
    }

    const body = "0123456789abcdef".repeat(5_000);
    const teapot = await fetch(`${url}/teapot`, { method: "POST", body });
    expect(teapot.status).toBe(418);
    expect(teapot.headers.get("content-type")).toBe("text/plain");
    expect(await teapot.text()).toBe(body);
    expect((await fetch(`${url}/broken`)).status).toBe(503);

    const folders = readdirSync(directory.path);
    expect(folders).toHaveLength(1);
    const place = {
      port: Number(new URL(url).port),
      directory: `${directory.path}/${folders[0]}`,
      healthPath: "/healthz",
    };
    expect(config).toBe(target.config(backends.urls, place));
    expect(groupMembers(pid) ?? [pid]).toContain(pid);

    await Promise.all([running.stop(), running.stop()]);
    expect(groupMembers(pid) ?? []).toEqual([]);
    expect(readdirSync(directory.path)).toEqual([]);
    await expect(fetch(url)).rejects.toThrow();
  },
);
