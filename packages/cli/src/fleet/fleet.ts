import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import {
  checkFleetOptions,
  type FleetOptions,
  type FleetReply,
  type FleetRequest,
  type FleetStats,
} from "./fleet-options.ts";

const START_TIMEOUT_MS = 20_000;
const REPLY_TIMEOUT_MS = 10_000;
const STOP_TIMEOUT_MS = 2_000;

/** Backends on loopback in a process of their own, so that their work is not the caller's. */
export interface Fleet {
  /** `http://127.0.0.1:PORT`, in the order of the options. */
  readonly urls: readonly string[];
  readonly pid: number;
  /** Settles when the process has ended, whoever ended it. */
  readonly ended: Promise<void>;
  stats(): Promise<FleetStats>;
  /** Empties every queue and starts counts and random streams anew. */
  reset(): Promise<void>;
  /** Ends the process; killed where it does not go by itself. Never rejects. */
  stop(): Promise<void>;
}

/** Rejects when an option is out of range (`ERR_BOBTAIL_OPTION`) or the process does not come up. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const setup = checkFleetOptions(options);
  const child = fork(fleetProcessPath(), [], {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    // More than one may come, and none may go unheard.
    child.on("error", () => resolve());
  });
  const stop = (): Promise<void> => stopChild(child, ended);
  try {
    const started = await ask(child, { kind: "start", setup }, "started", START_TIMEOUT_MS);
    return {
      urls: started.ports.map((port) => `http://127.0.0.1:${port}`),
      pid: child.pid ?? -1,
      ended,
      stats: async () => (await ask(child, { kind: "stats" }, "stats", REPLY_TIMEOUT_MS)).stats,
      reset: async () => {
        await ask(child, { kind: "reset" }, "reset", REPLY_TIMEOUT_MS);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A child needs JavaScript: where this file runs as source, under a test runner, the build beside it is used. */
function fleetProcessPath(): string {
  const path = import.meta.url.endsWith(".ts")
    ? "../../dist/fleet/fleet-process.js"
    : "./fleet-process.js";
  return fileURLToPath(new URL(path, import.meta.url));
}

type ReplyOf<K extends FleetReply["kind"]> = Extract<FleetReply, { kind: K }>;

/** One question, one answer of the kind asked for. */
function ask<K extends FleetReply["kind"]>(
  child: ChildProcess,
  request: FleetRequest,
  kind: K,
  timeoutMs: number,
): Promise<ReplyOf<K>> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer);
      child.off("message", onMessage);
      child.off("exit", onExit);
      child.off("error", onError);
    };
    const fail = (why: string): void => {
      done();
      reject(new Error(`the fleet's process ${why}`));
    };
    const onMessage = (reply: FleetReply): void => {
      if (reply.kind === "failed") fail(`could not start: ${reply.message}`);
      if (reply.kind !== kind) return;
      done();
      resolve(reply as ReplyOf<K>);
    };
    const onExit = (): void => fail("ended unexpectedly");
    const onError = (error: Error): void => fail(`failed: ${error.message}`);
    const timer = setTimeout(() => fail(`did not answer "${request.kind}"`), timeoutMs);
    child.on("message", onMessage);
    child.once("exit", onExit);
    child.once("error", onError);
    if (child.exitCode !== null || child.signalCode !== null || !child.connected) onExit();
    else child.send(request, (error) => error !== null && onError(error));
  });
}

async function stopChild(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  if (child.connected) child.send({ kind: "stop" } satisfies FleetRequest, () => {});
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}
