import { randomBytes } from "node:crypto";
import { get } from "node:http";
import { join, resolve } from "node:path";
import { CommandFailure, EXIT } from "../../terminal/failure.ts";
import { freePort } from "./free-port.ts";
import { type KeptProgram, keepProgram } from "./keeper.ts";
import type {
  FoundProgram,
  MissingProgram,
  RunningTarget,
  StartOptions,
  TargetPlace,
  TrialTarget,
} from "./target.ts";

const READY_TIMEOUT_MS = 20_000;
const PROBE_TIMEOUT_MS = 1_000;
const PROBE_EVERY_MS = 20;
/** Between looking for a free port and listening on it somebody else may take it. */
const PORT_TRIES = 3;
const PORT_TAKEN = /address already in use|address in use|EADDRINUSE|cannot bind socket/i;

/** One program in one configuration; the rest of a {@link TrialTarget} is the same for all of them. */
export interface ProgramSpec
  extends Pick<TrialTarget, "name" | "title" | "family" | "role" | "notes" | "config" | "find"> {
  /** Of the configuration file, in the target's folder. */
  readonly configName: string;
  /** `configPath` and `folder` are absolute. */
  launch(at: { readonly path: string; readonly configPath: string; readonly folder: string }): {
    readonly command: string;
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  };
}

/** @param choosePort - tests make two targets want the same one. */
export function managedTarget(
  spec: ProgramSpec,
  choosePort: () => Promise<number> = freePort,
): TrialTarget {
  const { configName, launch, ...shared } = spec;
  return {
    ...shared,
    async start(backends, options) {
      const found = await spec.find();
      if ("missing" in found) throw missingFailure(spec, found);
      const { port, signal } = options;
      for (let tries = 1; ; tries++) {
        const place = { ...options, port: port ?? (await choosePort()) };
        const started = await tryStart(spec, found, backends, place);
        if ("stop" in started) return started;
        const isTaken = PORT_TAKEN.test(started.words) && signal?.aborted !== true;
        const again = port === undefined && tries < PORT_TRIES && isTaken;
        if (!again) throw startFailure(spec, started);
      }
    },
  };
}

interface FailedStart {
  readonly why: string;
  readonly words: string;
}

async function tryStart(
  spec: ProgramSpec,
  found: FoundProgram,
  backends: readonly string[],
  options: StartOptions & { readonly port: number },
): Promise<RunningTarget | FailedStart> {
  const { port, healthPath, signal } = options;
  const name = spec.name.replaceAll(/[^a-z0-9]+/g, "-");
  const folder = resolve(options.directory, `${name}-${randomBytes(6).toString("hex")}`);
  const place: TargetPlace = { ...options, directory: folder };
  const config = spec.config(backends, place);
  const { command, args, env } = spec.launch({
    path: found.path,
    configPath: join(folder, spec.configName),
    folder,
  });
  let program: KeptProgram;
  try {
    program = await keepProgram(
      {
        command,
        args,
        env: { ...inheritedEnv(folder), ...env },
        folder,
        files: { [spec.configName]: config },
      },
      signal,
    );
  } catch (error) {
    return { why: "could not be started", words: error instanceof Error ? error.message : "" };
  }
  const url = `http://127.0.0.1:${port}`;
  const problem = await untilServing(`${url}${healthPath}`, program, signal);
  if (problem === undefined) {
    const endedHow = (): string | undefined => deathOf(program);
    return { url, pid: program.pid, config, endedHow, stop: program.stop };
  }
  const words = program.lastWords();
  await program.stop();
  return { why: problem, words };
}

function deathOf(program: KeptProgram): string | undefined {
  const how = program.endedHow();
  const lastLine = program.lastWords().split("\n").at(-1);
  return how === undefined || lastLine === "" ? how : `${how}: ${lastLine}`;
}

/** Home and caches are in the target's folder, so that nothing is written elsewhere. */
function inheritedEnv(folder: string): Record<string, string> {
  const { PATH = "", LANG = "C", LD_LIBRARY_PATH } = process.env;
  return {
    PATH,
    LANG,
    ...(LD_LIBRARY_PATH !== undefined && { LD_LIBRARY_PATH }),
    HOME: folder,
    TMPDIR: folder,
    XDG_CONFIG_HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CACHE_HOME: folder,
  };
}

/** @returns why it does not serve, or undefined when it does: a backend's health answer came through it. */
async function untilServing(
  url: string,
  program: KeptProgram,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const untilMs = performance.now() + READY_TIMEOUT_MS;
  let status: number | undefined;
  while (performance.now() < untilMs) {
    status = (await probe(url, signal)) ?? status;
    if (signal?.aborted === true) return "was stopped before it served";
    const how = program.endedHow();
    // Whoever answered then was not the program.
    if (how !== undefined) return `ended before it served (${how})`;
    if (status === 200) return undefined;
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
  const last = status === undefined ? "no answer came" : `its last answer had status ${status}`;
  return `did not serve within ${READY_TIMEOUT_MS / 1_000} s: ${last}`;
}

function probe(url: string, signal: AbortSignal | undefined): Promise<number | undefined> {
  return new Promise((resolve) => {
    const options = { agent: false, timeout: PROBE_TIMEOUT_MS, signal };
    const request = get(url, options, (response) => {
      response.resume();
      response.on("error", () => {});
      resolve(response.statusCode);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(undefined));
  });
}

function missingFailure(spec: ProgramSpec, { missing, remedy }: MissingProgram): CommandFailure {
  return new CommandFailure(`${spec.name}: ${missing}`, remedy);
}

function startFailure(spec: ProgramSpec, { why, words }: FailedStart): CommandFailure {
  const said =
    words === "" ? "It said nothing." : `It said:\n    ${words.replaceAll("\n", "\n    ")}`;
  return new CommandFailure(
    `${spec.name}: the program ${why}`,
    `${said}\n  \`bobtail trial ${spec.name} --show-config\` prints the configuration that it was given.`,
    EXIT.internal,
  );
}
