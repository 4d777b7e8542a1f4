import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { LoadPlan } from "../load-plan.ts";
import { threadScript } from "../thread-script.ts";
import { type PacerOrder, STATE } from "./pacer-order.ts";
import type { Waker, WakerFactory } from "./waker.ts";

/** A sender's end: it can be sent to another thread, with the port in the transfer list. */
export interface PacerEnd {
  readonly port: MessagePort;
  readonly flags: Int32Array;
  readonly progress: Int32Array;
  readonly index: number;
}

/** A thread that keeps the time for one or several senders. */
export interface Pacer {
  readonly ends: readonly PacerEnd[];
  start(startMs: number): void;
  stop(): void;
  /** It can wake nobody any more. Called at most once, and not after `stop`. */
  onFailure: () => void;
}

/** Rejects where the thread does not come up. */
export async function startPacer(plan: LoadPlan, senders: number): Promise<Pacer> {
  const channels = Array.from({ length: senders }, () => new MessageChannel());
  const ports = channels.map(({ port1 }) => port1);
  const flags = new Int32Array(new SharedArrayBuffer(4 * senders));
  const progress = new Int32Array(new SharedArrayBuffer(4 * senders));
  const control = new Int32Array(new SharedArrayBuffer(4));
  const start = new Float64Array(new SharedArrayBuffer(8));
  const order: PacerOrder = {
    plan: { ...plan, targets: [] },
    ports,
    flags,
    progress,
    control,
    startMs: start,
  };
  const worker = new Worker(threadScript("pacing/pacer-thread"), {
    workerData: order,
    transferList: ports,
    execArgv: [],
  });
  const set = (state: number): void => {
    Atomics.store(control, 0, state);
    Atomics.notify(control, 0);
  };
  const pacer: Pacer = {
    ends: channels.map(({ port2 }, index) => ({ port: port2, flags, progress, index })),
    start(startMs) {
      start[0] = startMs;
      set(STATE.running);
    },
    stop() {
      pacer.onFailure = () => {};
      set(STATE.stopped);
    },
    onFailure() {},
  };
  await new Promise<void>((resolve, reject) => {
    worker.once("message", () => resolve());
    worker.once("error", reject);
    worker.once("exit", (code) => {
      reject(new Error("the pacing thread ended"));
      if (code !== 0) pacer.onFailure();
    });
  });
  return pacer;
}

/** Wakes by a pacing thread. */
export function threadWaker({ port, flags, progress, index }: PacerEnd): WakerFactory {
  return (wake): Waker => {
    port.on("message", () => {
      // Before the clock is read: whatever falls due from now on has a message of its own.
      Atomics.store(flags, index, 0);
      wake();
    });
    return {
      // The pacing thread knows the plan, and is told how far it has been kept.
      sleepUntil(_atMs, ordinal) {
        Atomics.store(progress, index, ordinal);
      },
      stop() {
        port.close();
      },
    };
  };
}
