import { once } from "node:events";
import { parentPort, Worker } from "node:worker_threads";
import { checks } from "./checks.ts";
import type { Lane, Verdict } from "./run-checks.ts";

interface Task {
  readonly indices: readonly number[];
  readonly quick: boolean;
}

/** A lane on a thread of its own. @param entry - a script that calls `serveChecks` when it is not the main thread. */
export function workerLane(entry: URL): Lane {
  const worker = new Worker(entry);
  return {
    async run(indices, quick) {
      worker.postMessage({ indices, quick } satisfies Task);
      // Rejects with the thread's own error.
      const [verdicts] = (await once(worker, "message")) as [readonly Verdict[]];
      return verdicts;
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
  port.on("message", ({ indices, quick }: Task) => {
    port.postMessage(indices.map((index) => judge(index, quick)));
  });
}

function judge(index: number, quick: boolean): Verdict {
  const check = checks[index];
  if (check === undefined) throw new Error(`no check ${index}`);
  const startMs = performance.now();
  const { got, holds } = check.run(quick);
  return { index, got, holds, wallMs: performance.now() - startMs };
}
