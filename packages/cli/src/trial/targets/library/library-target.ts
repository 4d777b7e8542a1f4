import { builtFile } from "../built-file.ts";
import { managedTarget } from "../managed-target.ts";
import type { TargetPlace, TrialTarget } from "../target.ts";

export interface LibraryTarget
  extends Pick<TrialTarget, "name" | "title" | "family" | "role" | "notes" | "find"> {
  /** In `programs/`: "undici-balanced-pool". */
  readonly program: string;
  /** What its program is told beside port and backends. */
  readonly settings: object | ((backends: readonly string[]) => object);
}

/** A library in a small program of its own: a plain node:http server that calls the library's pool. */
export function libraryTarget({ program, settings, ...shared }: LibraryTarget): TrialTarget {
  return managedTarget({
    ...shared,
    configName: "settings.json",
    config: (backends: readonly string[], { port }: TargetPlace) => {
      const own = typeof settings === "function" ? settings(backends) : settings;
      return `${JSON.stringify({ port, backends, ...own }, null, 2)}\n`;
    },
    launch: ({ configPath }) => ({
      command: process.execPath,
      args: [builtFile(`programs/${program}.js`), configPath],
    }),
  });
}
