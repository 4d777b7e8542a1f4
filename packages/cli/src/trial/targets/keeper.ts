import { type ChildProcess, fork } from "node:child_process";
import { closeSync, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { builtFile } from "./built-file.ts";
import {
  type KeeperOrder,
  type KeeperReply,
  type KeeperRequest,
  LOG_NAME,
} from "./keeper-order.ts";

const RUN_TIMEOUT_MS = 20_000;
/** Longer than the keeper waits before it kills. */
const STOP_TIMEOUT_MS = 5_000;
const LOG_LINES = 12;
const LOG_BYTES = 2_048;

/** A program under a keeper. */
export interface KeptProgram {
  readonly pid: number;
  /** How the program ended: "exit code 1", "signal SIGKILL"; undefined while it runs. */
  endedHow(): string | undefined;
  /** The last lines that the program said, or "". */
  lastWords(): string;
  /** Ends the program's process group and removes its folder. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Resolves when the program was started, not when it serves. Rejects when it cannot be started at all, and when the signal
 * comes first.
 */
export async function keepProgram(
  order: KeeperOrder,
  signal?: AbortSignal | undefined,
): Promise<KeptProgram> {
  const keeper = fork(builtFile("keeper-process.js"), [], {
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const gone = new Promise<void>((resolve) => {
    keeper.once("exit", () => resolve());
    keeper.on("error", () => resolve());
  });
  let pid = -1;
  let how: string | undefined;
  keeper.on("message", (reply: KeeperReply) => {
    if (reply.kind === "ended") how = reply.how;
  });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= endKeeper(keeper, gone, pid, order.folder);
    return stopping;
  };
  try {
    pid = await running(keeper, order, signal);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    pid,
    endedHow: () => how ?? (hasEnded(keeper) ? "its keeper ended" : undefined),
    lastWords: () => lastLines(join(order.folder, LOG_NAME)),
    stop,
  };
}

function running(
  keeper: ChildProcess,
  order: KeeperOrder,
  signal: AbortSignal | undefined,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stopped);
    };
    const fail = (why: string): void => {
      done();
      reject(new Error(why));
    };
    const stopped = (): void => fail("it was stopped");
    signal?.addEventListener("abort", stopped);
    const timer = setTimeout(() => fail("its keeper did not answer"), RUN_TIMEOUT_MS);
    keeper.on("message", (reply: KeeperReply) => {
      if (reply.kind === "failed") fail(reply.message);
      if (reply.kind !== "running") return;
      done();
      resolve(reply.pid);
    });
    keeper.once("exit", () => fail("its keeper ended"));
    keeper.once("error", (error) => fail(error.message));
    tell(keeper, { kind: "run", order });
  });
}

async function endKeeper(
  keeper: ChildProcess,
  gone: Promise<void>,
  pid: number,
  folder: string,
): Promise<void> {
  tell(keeper, { kind: "stop" });
  const timer = setTimeout(() => keeper.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await gone;
  clearTimeout(timer);
  if (keeper.exitCode === 0) return;
  // The keeper itself was killed: what it would have done is done here.
  try {
    if (pid > 0) process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left.
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function tell(keeper: ChildProcess, request: KeeperRequest): void {
  if (keeper.connected) keeper.send(request, () => {});
}

/** Of a log of any length, only its end is read. */
function lastLines(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const { size } = fstatSync(file);
    const end = Buffer.alloc(Math.min(size, LOG_BYTES));
    readSync(file, end, 0, end.length, size - end.length);
    return end.toString("utf8").trimEnd().split("\n").slice(-LOG_LINES).join("\n");
  } catch {
    return "";
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
