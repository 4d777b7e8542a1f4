import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { checkOption } from "bobtail/engine";
import { checkFault, type Fault } from "./fault.ts";
import { FleetChannel } from "./fleet-channel.ts";
import type { FleetQuestion } from "./fleet-messages.ts";
import { checkFleetOptions, type FleetOptions, type FleetStats } from "./fleet-options.ts";

const START_TIMEOUT_MS = 20_000;
const REPLY_TIMEOUT_MS = 10_000;
const STOP_TIMEOUT_MS = 2_000;

/** Backends on loopback in a process of their own, so that their work is not the caller's. */
export interface Fleet {
  /** `http://127.0.0.1:PORT`, in the order of the options; also those of backends that do not listen yet. */
  readonly urls: readonly string[];
  readonly pid: number;
  /** Settles when the process has ended, whoever ended it. */
  readonly ended: Promise<void>;
  stats(): Promise<FleetStats>;
  /**
   * Makes a backend sick, in place of whatever was wrong with it, or well: undefined. Settles when that is in force;
   * a restart when the backend is down. Rejects with `ERR_BOBTAIL_OPTION` for an index or a fault out of range.
   */
  control(index: number, fault: Fault | undefined): Promise<void>;
  /** Empties every queue, starts counts and random streams anew, and gives each backend the fault of its options. */
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
  const channel = new FleetChannel(child);
  const stop = (): Promise<void> => stopChild(child, ended);
  try {
    const started = await channel.ask({ kind: "start", setup }, START_TIMEOUT_MS);
    if (started.kind !== "started") throw new Error(`the fleet answered "${started.kind}"`);
    return {
      urls: started.ports.map((port) => `http://127.0.0.1:${port}`),
      pid: child.pid ?? -1,
      ended,
      async stats() {
        const reply = await channel.ask({ kind: "stats" }, REPLY_TIMEOUT_MS);
        if (reply.kind !== "stats") throw new Error(`the fleet answered "${reply.kind}"`);
        return reply.stats;
      },
      async control(index, fault) {
        checkOption(
          { index },
          `a whole number in [0, ${setup.backends.length - 1}]`,
          Number.isInteger(index) && index >= 0 && index < setup.backends.length,
        );
        if (fault !== undefined) checkFault(fault);
        await channel.ask({ kind: "control", index, fault }, REPLY_TIMEOUT_MS);
      },
      async reset() {
        await channel.ask({ kind: "reset" }, REPLY_TIMEOUT_MS);
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

async function stopChild(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const question: FleetQuestion = { id: 0, request: { kind: "stop" } };
  if (child.connected) child.send(question, () => {});
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}
