import { builtFile } from "../built-file.ts";
import { managedTarget } from "../managed-target.ts";
import type { TargetPlace, TrialTarget } from "../target.ts";
import { type TargetTimes, targetTimes } from "../target-times.ts";

export interface LibraryTarget
  extends Pick<TrialTarget, "name" | "title" | "family" | "role" | "notes" | "find"> {
  /** In `programs/`: "undici-balanced-pool". */
  readonly program: string;
  /** What its program is told beside port and backends. */
  settings(backends: readonly string[], times: TargetTimes): object;
}

/** A library in a small program of its own: a plain node:http server that calls the library's pool. */
export function libraryTarget({ program, settings, ...shared }: LibraryTarget): TrialTarget {
  return managedTarget({
    ...shared,
    configName: "settings.json",
    config: (backends: readonly string[], place: TargetPlace) => {
      const own = settings(backends, targetTimes(place));
      return `${JSON.stringify({ port: place.port, backends, ...own }, null, 2)}\n`;
    },
    launch: ({ configPath }) => ({
      command: process.execPath,
      args: [builtFile(`programs/${program}.js`), configPath],
    }),
  });
}
