import { loadPolicy, type PolicyReading } from "../policy-file/load-policy.ts";
import { formatProblems } from "../policy-file/problem.ts";
import { readDurationMs } from "../policy-file/units.ts";
import type { ProxyConfig, RunningProxy } from "../proxy/config.ts";
import { startProxy } from "../proxy/start-proxy.ts";
import { CommandFailure, EXIT, explainBindError } from "../terminal/failure.ts";
import { type Palette, paletteFor } from "../terminal/palette.ts";
import { describeProxy } from "./describe-config.ts";
import type { ProxyFlags } from "./proxy-command.ts";
import { quickConfig } from "./quick-config.ts";
import { contentHashes, type PolicyWatch, watchPolicy } from "./watch-policy.ts";

/** Runs until a signal has ended it. Throws {@link CommandFailure} when it cannot start. */
export async function runProxy(flags: ProxyFlags): Promise<void> {
  const graceMs = readGrace(flags.grace);
  const palette = paletteFor(process.stderr);
  const file = flags.config;
  const known = await contentHashes(file === undefined ? [] : [file]);
  const reading = file === undefined ? quickConfig(flags) : loadPolicy(file);
  if (!reading.ok) {
    say(formatProblems(reading.problems, palette));
    const name = file ?? "the options";
    throw new CommandFailure(
      `${name} cannot be used`,
      "Mend the mistakes above; check with `bobtail check`.",
    );
  }
  if (reading.config.listeners.length === 0) {
    throw new CommandFailure(
      `${file} has no listener`,
      "Add `listen: { address: 127.0.0.1:8080, service: NAME }`.",
    );
  }
  const proxy = await start(reading.config);
  say(`bobtail: ${describeProxy(reading.config, proxy).replaceAll("\n", "\nbobtail: ")}`);

  const reload = reloader({ file, first: reading, proxy, palette });
  const watch =
    file === undefined || file === "-"
      ? undefined
      : watchPolicy([file, ...reading.files], known, () => reload("changed"));
  reload.watch = watch;
  const onHup = (): void => void reload("SIGHUP");
  process.on("SIGHUP", onHup);
  try {
    await untilStopped(proxy, graceMs, () => watch?.stop());
  } finally {
    watch?.stop();
    process.off("SIGHUP", onHup);
  }
}

function readGrace(written: string): number {
  const grace = readDurationMs(written);
  if (!grace.ok) throw new CommandFailure(`--grace: ${grace.reason}`, grace.remedy);
  return grace.value;
}

async function start(config: ProxyConfig): Promise<RunningProxy> {
  try {
    return await startProxy(config);
  } catch (error) {
    throw explainStartError(error);
  }
}

/** What the user can mend becomes a failure with its remedy; the rest stays what it was. */
function explainStartError(error: unknown): unknown {
  if (error instanceof Error && "code" in error && error.code === "ERR_BOBTAIL_OPTION") {
    return new CommandFailure(error.message);
  }
  return explainBindError(error) ?? error;
}

interface ReloadSetup {
  readonly file: string | undefined;
  readonly first: PolicyReading;
  readonly proxy: RunningProxy;
  readonly palette: Palette;
}

interface Reloader {
  (why: string): Promise<void>;
  watch: PolicyWatch | undefined;
}

/** Reads the policy again, one reading at a time; a request during one is served by one more after it. */
function reloader({ file, first, proxy, palette }: ReloadSetup): Reloader {
  let files = first.files;
  let running: Promise<void> | undefined;
  let again = false;

  async function once(why: string): Promise<void> {
    if (file === undefined || file === "-") {
      say(`bobtail: ${why}: there is no policy file to read again`);
      return;
    }
    const reading = loadPolicy(file);
    // A broken policy names fewer files than it means; those of the one in force stay watched.
    files = reading.ok ? reading.files : [...new Set([...files, ...reading.files])];
    reload.watch?.follow([file, ...files]);
    if (!reading.ok) {
      say(formatProblems(reading.problems, palette));
      say(`bobtail: ${why}: ${file} has mistakes; the old policy stays in force`);
      return;
    }
    if (reading.config.listeners.length === 0) {
      say(`bobtail: ${why}: ${file} has no listener; the old policy stays in force`);
      return;
    }
    try {
      await proxy.reload(reading.config);
      say(`bobtail: ${why}: ${file} is in force`);
    } catch (error) {
      const told = explainStartError(error);
      const message = told instanceof Error ? told.message : String(told);
      say(`bobtail: ${why}: ${message}; the old policy stays in force`);
    }
  }

  const reload: Reloader = Object.assign(
    async (why: string): Promise<void> => {
      again = running !== undefined;
      running ??= (async () => {
        do {
          again = false;
          await once(why);
        } while (again);
        running = undefined;
      })();
      await running;
    },
    { watch: undefined as PolicyWatch | undefined },
  );
  return reload;
}

/** The first signal drains, a second one ends at once with the signal's exit code. */
async function untilStopped(
  proxy: RunningProxy,
  graceMs: number,
  onStop: () => void,
): Promise<void> {
  await new Promise<void>((stopped, failed) => {
    let draining = false;
    const onSignal = (signal: "SIGINT" | "SIGTERM"): void => {
      if (draining) process.exit(signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated);
      draining = true;
      onStop();
      say(
        `bobtail: ${signal}: draining for up to ${graceMs / 1000} s; a second signal ends at once`,
      );
      proxy.drain(graceMs).then(stopped, failed);
    };
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
  });
  say("bobtail: drained");
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
