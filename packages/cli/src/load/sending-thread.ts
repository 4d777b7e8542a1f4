/** A thread that sends one share of a run. */
import { parentPort, workerData } from "node:worker_threads";
import { monotonicMs } from "./monotonic-clock.ts";
import { OpenLoop } from "./open-loop.ts";
import { threadWaker } from "./pacing/pacer.ts";
import { timerWaker } from "./pacing/waker.ts";
import { encodeSection, LIVE } from "./section-codec.ts";
import type { ShareResult } from "./share-result.ts";
import type { ShareBytes, ThreadCommand, ThreadOrder, ThreadReport } from "./thread-messages.ts";

const LIVE_EVERY_MS = 500;

const { end, ...setup } = workerData as ThreadOrder;
const loop = new OpenLoop({ ...setup, onMeasure: () => tell({ kind: "measure" }) });

function tell(report: ThreadReport): void {
  parentPort?.postMessage(report);
}

async function run(startMs: number): Promise<void> {
  const ticker = setInterval(() => {
    const [warmup, measured] = [
      encodeSection(loop.warmup, []),
      encodeSection(loop.measured, LIVE),
    ] as const;
    tell({ kind: "live", warmup, measured });
  }, LIVE_EVERY_MS);
  if (end === undefined && setup.plan.pacing === "thread") loop.fallBack();
  const waker = end === undefined ? timerWaker(monotonicMs) : threadWaker(end);
  const result = await loop.run(startMs, waker);
  clearInterval(ticker);
  tell({ kind: "done", result: encodeShare(result) });
  parentPort?.close();
}

function encodeShare({ warmup, measured, probe, ...rest }: ShareResult): ShareBytes {
  return {
    ...rest,
    warmup: encodeSection(warmup),
    measured: encodeSection(measured),
    probe: probe.encode(),
  };
}

parentPort?.on("message", (command: ThreadCommand) => {
  switch (command.kind) {
    case "start":
      // It never rejects; what is thrown in it ends the thread, and the run says so.
      void run(command.startMs);
      break;
    case "fall-back":
      loop.fallBack();
      break;
    case "stop":
      loop.stop();
      break;
  }
});
tell({ kind: "ready" });
