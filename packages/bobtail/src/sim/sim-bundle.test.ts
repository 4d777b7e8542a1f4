import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";

const door = fileURLToPath(new URL("../sim.ts", import.meta.url));

async function bundleForBrowsers(): Promise<{ code: string; imports: readonly string[] }> {
  const bundle = await rolldown({ input: door, platform: "browser", logLevel: "silent" });
  const { output } = await bundle.generate({ format: "iife", name: "sim" });
  await bundle.close();
  const [chunk] = output;
  return { code: chunk.code, imports: [...chunk.imports, ...chunk.dynamicImports] };
}

test("bobtail/sim bundles for browsers with nothing of Node in it, and runs without Node's globals", async () => {
  const { code, imports } = await bundleForBrowsers();
  expect(imports).toEqual([]);
  expect(code).not.toMatch(
    /\bnode:|\brequire\(|\bprocess\.|\bBuffer\b|\bsetTimeout\b|\bperformance\./,
  );
  // A bare realm has the language and nothing else.
  const realm = createContext({});
  runInContext(code, realm);
  const summary = runInContext(
    `(() => {
      const options = {
        servers: [{ count: 4, workers: 2 }],
        size: { kind: "exponential", meanMs: 10 },
        arrivals: { kind: "poisson", load: 0.6 },
        requests: 2000,
        policy: { hedge: { afterMs: 25 } },
        seed: 7,
      };
      const result = new sim.World(options).run();
      return [typeof process, result.callCount, result.digests[0]].join(" ");
    })()`,
    realm,
  );
  expect(summary).toMatch(/^undefined 1800 [0-9a-f]{16}$/);
  // Small enough for a page: what it weighs now, and a third more.
  expect(code.length).toBeLessThan(340_000);
});
