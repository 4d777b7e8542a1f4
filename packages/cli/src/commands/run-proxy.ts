import { loadPolicy } from "../policy-file/load-policy.ts";
import { formatProblems } from "../policy-file/problem.ts";
import { readDurationMs } from "../policy-file/units.ts";
import type { ProxyConfig, RunningProxy } from "../proxy/config.ts";
import { startProxy } from "../proxy/start-proxy.ts";
import { CommandFailure, EXIT, explainStartError } from "../terminal/failure.ts";
import { paletteFor } from "../terminal/palette.ts";
import { describeProxy } from "./describe-config.ts";
import { createReloader, type Reloader } from "./policy-reloader.ts";
import type { ProxyFlags } from "./proxy-flags.ts";
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
  // From here on a signal must not end the process unheard; one that comes too early changes nothing,
  // as the watch compares with what was read.
  let reload: Reloader | undefined;
  const onHup = (): void => void reload?.("SIGHUP");
  process.on("SIGHUP", onHup);
  let watch: PolicyWatch | undefined;
  try {
    const proxy = await start(reading.config);
    const reloadNow = createReloader({
      file,
      files: reading.files,
      proxy,
      say,
      palette,
      follow: (files) => watch?.follow(files),
    });
    reload = reloadNow;
    const stopped = untilStopped(proxy, graceMs, () => {
      watch?.stop();
      reload = undefined;
    });
    if (file !== undefined && file !== "-") {
      watch = watchPolicy([file, ...reading.files], known, () => reloadNow("changed"));
    }
    say(`bobtail: ${describeProxy(reading.config, proxy).replaceAll("\n", "\nbobtail: ")}`);
    await stopped;
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
