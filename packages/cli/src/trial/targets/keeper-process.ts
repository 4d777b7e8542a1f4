/**
 * A process that runs one program and outlives nobody: when its parent stops it, crashes or is killed, the
 * program's whole process group ends and its folder goes. A handler in the parent could not promise that.
 */
import { spawn } from "node:child_process";
import { mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type KeeperOrder,
  type KeeperReply,
  type KeeperRequest,
  LOG_NAME,
} from "./keeper-order.ts";

/** Time to end by itself, after SIGTERM; then it is killed. */
const GRACE_MS = 2_000;
/** What was killed is gone after this at the latest, zombies aside. */
const GONE_MS = 500;
const LOOK_MS = 10;

/** Process group of the program; undefined once nobody of it is left, as its number may be given anew. */
let group: number | undefined;
let folder: string | undefined;
let ending = false;

function send(reply: KeeperReply): void {
  if (process.connected) process.send?.(reply, undefined, undefined, () => {});
}

function run(order: KeeperOrder): void {
  mkdirSync(order.folder, { mode: 0o700 });
  folder = order.folder;
  for (const [name, text] of Object.entries(order.files)) writeFileSync(join(folder, name), text);
  const log = openSync(join(folder, LOG_NAME), "a");
  // A group of its own: Ctrl-C does not reach it, and all of its children can be ended at once.
  const program = spawn(order.command, order.args, {
    cwd: folder,
    env: { ...order.env },
    detached: true,
    stdio: ["ignore", log, log],
  });
  group = program.pid;
  program.once("spawn", () => send({ kind: "running", pid: program.pid ?? -1 }));
  program.once("error", (error) => send({ kind: "failed", message: error.message }));
  program.once("exit", (code, signal) => {
    signalGroup("SIGKILL");
    send({ kind: "ended", how: signal === null ? `exit code ${code}` : `signal ${signal}` });
  });
}

/** @returns false when no process of the group is left. */
function signalGroup(signal: NodeJS.Signals | 0): boolean {
  if (group === undefined) return false;
  try {
    return process.kill(-group, signal);
  } catch {
    group = undefined;
    return false;
  }
}

async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  signalGroup("SIGTERM");
  if (!(await gone(GRACE_MS))) {
    signalGroup("SIGKILL");
    await gone(GONE_MS);
  }
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}

async function gone(withinMs: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < withinMs; waitedMs += LOOK_MS) {
    if (!signalGroup(0)) return true;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return !signalGroup(0);
}

process.on("message", (request: KeeperRequest) => {
  switch (request.kind) {
    case "run":
      try {
        run(request.order);
      } catch (error) {
        send({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
      }
      break;
    case "stop":
      void end();
      break;
  }
});
// Ctrl-C and a stop of the service reach the whole process group: the parent decides when to end.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("SIGHUP", () => {});
process.on("disconnect", () => void end());
