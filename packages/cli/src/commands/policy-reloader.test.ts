import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ProxyConfig, RunningProxy } from "../proxy/config.ts";
import { createPalette } from "../terminal/palette.ts";
import { createReloader } from "./policy-reloader.ts";

const POLICY =
  "listen: { address: :8080, service: s }\nservices: { s: { endpoints: [http://h:1] } }\n";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bobtail-reload-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function reloaderOf(
  file: string,
  reload: (config: ProxyConfig) => Promise<void>,
  follow: () => void = () => {},
) {
  const lines: string[] = [];
  const counts = { failed: 0 };
  const noteFailedReload = (): void => void counts.failed++;
  const proxy = { reload, noteFailedReload } as RunningProxy;
  const palette = createPalette(false);
  const say = (line: string): void => void lines.push(line);
  const run = createReloader({ file, files: [], proxy, palette, say, follow });
  return { counts, lines, run };
}

test("a policy file that has become a device or a pipe is not read: the old policy stays", async () => {
  const { lines, run } = reloaderOf("/dev/zero", () => Promise.resolve());
  await run("SIGHUP");
  expect(lines).toEqual([
    "bobtail: SIGHUP: /dev/zero is no regular file any more; the old policy stays in force",
  ]);
});

test("whatever goes wrong in a reload is told, and never thrown at the proxy that runs", async () => {
  const file = join(folder, "p.yaml");
  writeFileSync(file, POLICY);
  let turn = 0;
  const follow = (): void => {
    if (turn++ === 0) throw new Error("broken");
  };
  const { lines, run } = reloaderOf(file, () => Promise.resolve(), follow);
  await run("SIGHUP");
  await run("changed");
  expect(lines).toEqual([
    "bobtail: SIGHUP: broken; the old policy stays in force",
    `bobtail: changed: ${file} is in force`,
  ]);
});

test("requests during a reload are served by one more after it", async () => {
  const file = join(folder, "p.yaml");
  writeFileSync(file, POLICY);
  let reloads = 0;
  const { run } = reloaderOf(file, async () => void reloads++);
  await Promise.all([run("a"), run("b"), run("c")]);
  expect(reloads).toBe(2);
});

test("a policy that cannot be used counts as a failed reload, where operators look", async () => {
  const file = join(folder, "p.yaml");
  const { counts, run } = reloaderOf(file, () => Promise.resolve());
  for (const text of ["services: [", "services: { s: { endpoints: [http://h:1] } }\n", POLICY]) {
    writeFileSync(file, text);
    await run("changed");
  }
  expect(counts.failed).toBe(2);
});
