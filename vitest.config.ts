import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (file: string) =>
  fileURLToPath(new URL(`packages/bobtail/src/${file}`, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests run on the sources; test/package proves that the published doors work too.
    alias: [
      { find: /^bobtail$/, replacement: source("index.ts") },
      { find: /^bobtail\/(\w+)$/, replacement: source("$1.ts") },
    ],
  },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
  },
});
