import { createRequire } from "node:module";
import { join } from "node:path";
import { versionIn } from "../own-version.ts";
import type { FoundProgram } from "../target.ts";

/** Looks in the project that the command runs in, then beside the command itself. */
export function findLibrary(name: string): FoundProgram | undefined {
  for (const from of [join(process.cwd(), "package.json"), import.meta.url]) {
    const require = createRequire(from);
    try {
      const version = versionIn(require(`${name}/package.json`));
      if (version !== undefined) return { version, path: require.resolve(name) };
    } catch {
      // Not there: the next place.
    }
  }
  return undefined;
}
