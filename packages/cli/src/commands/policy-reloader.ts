import { statSync } from "node:fs";
import { loadPolicy } from "../policy-file/load-policy.ts";
import { formatProblems } from "../policy-file/problem.ts";
import type { RunningProxy } from "../proxy/config.ts";
import { explainStartError } from "../terminal/failure.ts";
import type { Palette } from "../terminal/palette.ts";

/** Reads the policy again and puts it in force if it can; `why` begins the line that says what came of it. */
export type Reloader = (why: string) => Promise<void>;

export interface ReloaderSetup {
  /** Undefined: the policy came from options. */
  readonly file: string | undefined;
  /** What the policy in force names. */
  readonly files: readonly string[];
  readonly proxy: RunningProxy;
  readonly palette: Palette;
  say(line: string): void;
  /** Told which files the policy depends on from now on. */
  follow(files: readonly string[]): void;
}

/** One reading at a time; requests during one are served by one more after it. */
export function createReloader(setup: ReloaderSetup): Reloader {
  const { file, proxy, palette, say, follow } = setup;
  let files = setup.files;
  let running: Promise<void> | undefined;
  let again = false;

  /** Operators watch the count, not the lines. */
  function refuse(line: string): void {
    proxy.noteFailedReload();
    say(line);
  }

  async function once(why: string): Promise<void> {
    if (file === undefined || file === "-") {
      say(`bobtail: ${why}: there is no policy file to read again`);
      return;
    }
    const kept = "the old policy stays in force";
    // Reading a pipe would hold up every request until somebody writes to it.
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) {
      refuse(`bobtail: ${why}: ${file} is no regular file any more; ${kept}`);
      return;
    }
    const reading = loadPolicy(file);
    // A broken policy names fewer files than it means; those of the one in force stay watched.
    files = reading.ok ? reading.files : [...new Set([...files, ...reading.files])];
    follow([file, ...files]);
    if (!reading.ok) {
      say(formatProblems(reading.problems, palette));
      refuse(`bobtail: ${why}: ${file} has mistakes; ${kept}`);
      return;
    }
    if (reading.config.listeners.length === 0) {
      refuse(`bobtail: ${why}: ${file} has no listener; ${kept}`);
      return;
    }
    await proxy.reload(reading.config);
    say(`bobtail: ${why}: ${file} is in force`);
  }

  /** Nothing that goes wrong here may end a proxy that runs. */
  async function attempt(why: string): Promise<void> {
    try {
      await once(why);
    } catch (error) {
      const told = explainStartError(error);
      const message = told instanceof Error ? told.message : String(told);
      say(`bobtail: ${why}: ${message}; the old policy stays in force`);
    }
  }

  async function untilQuiet(why: string): Promise<void> {
    try {
      do {
        again = false;
        await attempt(why);
      } while (again);
    } finally {
      running = undefined;
    }
  }

  return async (why) => {
    if (running !== undefined) again = true;
    running ??= untilQuiet(why);
    await running;
  };
}
