import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { World } from "../../packages/bobtail/src/sim/world.ts";

const OPTIONS = {
  servers: [{ count: 4, workers: 2 }],
  size: { kind: "exponential", meanMs: 10 },
  arrivals: { kind: "poisson", load: 0.6 },
  requests: 20_000,
  policy: { hedge: { afterMs: 25 } },
  seed: 7,
} as const;

const browser = ["chromium", "chromium-browser", "google-chrome", "chrome"].find(
  (name) => spawnSync(name, ["--version"]).status === 0,
);
if (browser === undefined)
  console.warn(
    "skipped: the simulator in a browser worker (no chromium here; install the package chromium)",
  );

test.skipIf(browser === undefined)(
  "a browser's worker runs the simulator, and decides what Node decides",
  async () => {
    const input = fileURLToPath(new URL("../../packages/bobtail/src/sim.ts", import.meta.url));
    const bundle = await rolldown({ input, platform: "browser", logLevel: "silent" });
    const { output } = await bundle.generate({ format: "iife", name: "sim" });
    await bundle.close();
    const worker = `${output[0].code}
      const result = new sim.World(${JSON.stringify(OPTIONS)}).run();
      postMessage([typeof document, result.callCount, result.digests[0]].join(" "));`;
    const page = `<!doctype html><body><script>
      const blob = new Blob([${JSON.stringify(worker).replaceAll("<", "\\u003c")}], { type: "text/javascript" });
      const worker = new Worker(URL.createObjectURL(blob));
      worker.onmessage = (event) => { document.body.textContent = "sim:" + event.data + ";"; };
      worker.onerror = (event) => { document.body.textContent = "sim:" + event.message + ";"; };
    </script></body>`;
    const folder = mkdtempSync(join(tmpdir(), "bobtail-browser-"));
    try {
      const file = join(folder, "page.html");
      writeFileSync(file, page);
      const dom = execFileSync(
        browser as string,
        [
          "--headless",
          "--no-sandbox",
          "--disable-gpu",
          "--disable-dev-shm-usage",
          `--user-data-dir=${join(folder, "profile")}`,
          "--virtual-time-budget=60000",
          "--dump-dom",
          `file://${file}`,
        ],
        { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], timeout: 50_000 },
      );
      const here = new World(OPTIONS).run();
      expect(/sim:([^;]*);/.exec(dom)?.[1]).toBe(`undefined ${here.callCount} ${here.digests[0]}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
