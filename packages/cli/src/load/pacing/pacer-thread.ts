/**
 * The thread that keeps the time of a run: it sleeps until each planned moment and wakes the sender whose turn it is. A
 * sleeping thread is woken within the kernel's timer slack, where an event loop's timers are a millisecond apart.
 */
import { parentPort, workerData } from "node:worker_threads";
import { monotonicMs } from "../monotonic-clock.ts";
import { Schedule } from "../schedule.ts";
import { type PacerOrder, PROBE_COUNT, PROBE_GAP_MS, STATE } from "./pacer-order.ts";

/** A wake costs a message, which is dearer than a short wait: those who get several requests by each get them less often. */
const GAP_PER_REQUEST_MS = 0.1;
const MAX_GAP_MS = 0.5;

const { plan, ports, flags, progress, control, startMs } = workerData as PacerOrder;

/** @returns false when the run was stopped. */
function sleepUntil(atMs: number): boolean {
  for (let leftMs = atMs - monotonicMs(); leftMs > 0; leftMs = atMs - monotonicMs()) {
    if (Atomics.wait(control, 0, STATE.running, leftMs) !== "timed-out") return false;
  }
  return Atomics.load(control, 0) === STATE.running;
}

/** One message at a time: a sender that is behind finds all that is due when it hears it. */
function wake(sender: number): void {
  if (Atomics.exchange(flags, sender, 1) === 0) ports[sender]?.postMessage(0);
}

/** A sender that is awake anyway has sent it already. */
function isLeft(sender: number, ordinal: number): boolean {
  return ((ordinal - Atomics.load(progress, sender)) | 0) >= 0;
}

function probe(): boolean {
  const firstMs = (startMs[0] ?? 0) - PROBE_COUNT * PROBE_GAP_MS;
  for (let turn = 0; turn < PROBE_COUNT; turn++) {
    if (!sleepUntil(firstMs + turn * PROBE_GAP_MS)) return false;
    for (let sender = 0; sender < ports.length; sender++) wake(sender);
  }
  return true;
}

function run(): void {
  const schedule = new Schedule(plan);
  parentPort?.postMessage("ready");
  Atomics.wait(control, 0, STATE.waiting);
  if (!probe()) return;
  const originMs = startMs[0] ?? 0;
  while (schedule.nextMs < Number.POSITIVE_INFINITY) {
    if (!sleepUntil(originMs + schedule.nextMs)) return;
    const nowMs = monotonicMs();
    let due = 0;
    for (; originMs + schedule.nextMs <= nowMs; schedule.advance()) {
      const sender = schedule.turn % ports.length;
      if (isLeft(sender, schedule.ordinal)) wake(sender);
      due++;
    }
    if (!sleepUntil(nowMs + Math.min(MAX_GAP_MS, due * GAP_PER_REQUEST_MS))) return;
  }
}

run();
