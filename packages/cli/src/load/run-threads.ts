import { Worker } from "node:worker_threads";
import { Histogram } from "bobtail/engine";
import { CommandFailure, EXIT } from "../terminal/failure.ts";
import type { LoadPlan } from "./load-plan.ts";
import type { LoadSection } from "./load-report.ts";
import { monotonicMs } from "./monotonic-clock.ts";
import { type Pacer, startPacer } from "./pacing/pacer.ts";
import { START_LEAD_MS } from "./pacing/pacer-order.ts";
import { countOfShare } from "./schedule.ts";
import { decodeSection, type SectionBytes, sumSections } from "./section-codec.ts";
import type { ShareResult } from "./share-result.ts";
import type { ShareBytes, ThreadCommand, ThreadOrder, ThreadReport } from "./thread-messages.ts";
import { threadScript } from "./thread-script.ts";

export interface ThreadedRun {
  readonly plan: LoadPlan;
  /** Kept up to date a few times a second. */
  readonly warmup: LoadSection;
  readonly measured: LoadSection;
  readonly signal: AbortSignal;
  onMeasure(): void;
  /** On the monotonic clock. */
  onStart(startMs: number): void;
  /** Default: the one of this folder. */
  readonly script?: URL | undefined;
}

/** Several threads, each with its share. Rejects with a {@link CommandFailure} when one of them dies. */
export async function runThreads(run: ThreadedRun): Promise<ShareResult[]> {
  const { plan, signal } = run;
  const pacer =
    plan.pacing === "thread"
      ? await startPacer(plan, plan.workers).catch(() => undefined)
      : undefined;
  const threads = Array.from({ length: plan.workers }, (_, index) =>
    startThread(run, pacer, index),
  );
  const tellAll = (command: ThreadCommand): void => {
    for (const { worker } of threads) worker.postMessage(command);
  };
  const stop = (): void => tellAll({ kind: "stop" });
  let hasMeasured = false;
  for (const thread of threads) {
    thread.onMeasure = () => {
      if (!hasMeasured) run.onMeasure();
      hasMeasured = true;
    };
    thread.onLive = () => {
      sumSections(
        run.warmup,
        threads.flatMap((t) => t.warmup ?? []),
      );
      sumSections(
        run.measured,
        threads.flatMap((t) => t.measured ?? []),
      );
    };
  }
  try {
    await Promise.all(threads.map((thread) => thread.ready));
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    const startMs = monotonicMs() + START_LEAD_MS;
    run.onStart(startMs);
    tellAll({ kind: "start", startMs });
    pacer?.start(startMs);
    if (pacer !== undefined) pacer.onFailure = () => tellAll({ kind: "fall-back" });
    return await Promise.all(threads.map((thread) => thread.done));
  } finally {
    signal.removeEventListener("abort", stop);
    pacer?.stop();
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}

interface SendingThread {
  readonly worker: Worker;
  readonly ready: Promise<void>;
  readonly done: Promise<ShareResult>;
  warmup: LoadSection | undefined;
  measured: LoadSection | undefined;
  onMeasure(): void;
  onLive(): void;
}

function startThread(run: ThreadedRun, pacer: Pacer | undefined, index: number): SendingThread {
  const { plan, script = threadScript("sending-thread") } = run;
  const share = { index, of: plan.workers };
  const end = pacer?.ends[index];
  const order: ThreadOrder = {
    plan,
    share,
    maxInFlight: countOfShare(plan.maxInFlight, share),
    connections: countOfShare(plan.connections, share),
    end,
  };
  const transferList = end === undefined ? [] : [end.port];
  const worker = new Worker(script, { workerData: order, transferList, execArgv: [] });
  const [ready, done] = [deferred<void>(), deferred<ShareResult>()];
  const thread: SendingThread = {
    worker,
    ready: ready.promise,
    done: done.promise,
    warmup: undefined,
    measured: undefined,
    onMeasure() {},
    onLive() {},
  };
  const fail = (why: string): void => {
    const failure = new CommandFailure(
      `a sending thread ended before the run did: ${why}`,
      "What was measured is lost. Take fewer --workers or a lower rate where memory is short; else please report it.",
      EXIT.internal,
    );
    ready.reject(failure);
    done.reject(failure);
  };
  worker.on("message", (report: ThreadReport) => {
    switch (report.kind) {
      case "ready":
        ready.resolve();
        break;
      case "measure":
        thread.onMeasure();
        break;
      case "live":
        showLive(thread, report);
        break;
      case "done":
        done.resolve(decodeShare(report.result));
        break;
    }
  });
  worker.on("error", (error) => fail(error.message));
  worker.on("exit", (code) => fail(`code ${code}`));
  return thread;
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

function deferred<T>(): Deferred<T> {
  let [resolve, reject] = [(_: T): void => {}, (_: unknown): void => {}];
  const promise = new Promise<T>((...both) => {
    [resolve, reject] = both;
  });
  // What is not waited for at that moment is heard through another.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

function showLive(
  thread: SendingThread,
  { warmup, measured }: { warmup: SectionBytes; measured: SectionBytes },
): void {
  thread.warmup = decodeSection(warmup);
  thread.measured = decodeSection(measured);
  thread.onLive();
}

function decodeShare({ warmup, measured, probe, ...rest }: ShareBytes): ShareResult {
  return {
    ...rest,
    warmup: decodeSection(warmup),
    measured: decodeSection(measured),
    probe: Histogram.decode(probe),
  };
}
