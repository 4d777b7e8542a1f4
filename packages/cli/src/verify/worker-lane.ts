import { once } from "node:events";
import { parentPort, Worker } from "node:worker_threads";
import { checks } from "./checks.ts";
import type { Lane, Verdict } from "./run-checks.ts";

interface Task {
  readonly index: number;
  readonly quick: boolean;
}

/** A lane on a thread of its own. @param entry - a script that calls `serveChecks` when it is not the main thread. */
export function workerLane(entry: URL): Lane {
  const worker = new Worker(entry);
  return {
    async run({ indices, quick, onVerdict }) {
      worker.on("message", onVerdict);
      try {
        for (const index of indices) {
          const ended = once(worker, "message");
          worker.postMessage({ index, quick } satisfies Task);
          // Rejects with the thread's own error.
          await ended;
        }
      } finally {
        worker.off("message", onVerdict);
      }
    },
    async close() {
      await worker.terminate();
    },
  };
}

/** Runs in the thread, until it is terminated. */
export function serveChecks(): void {
  const port = parentPort;
  if (port === null) throw new Error("this is not a worker thread");
  port.on("message", ({ index, quick }: Task) => port.postMessage(judge(index, quick)));
}

function judge(index: number, quick: boolean): Verdict {
  const check = checks[index];
  if (check === undefined) throw new Error(`no check ${index}`);
  const startMs = performance.now();
  const { got, holds } = check.run(quick);
  return { index, got, holds, wallMs: performance.now() - startMs };
}
