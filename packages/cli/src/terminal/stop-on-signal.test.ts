import { afterEach, expect, test, vi } from "vitest";
import { EXIT } from "./failure.ts";
import { stopOnSignal } from "./stop-on-signal.ts";

const before = { int: process.listeners("SIGINT"), term: process.listeners("SIGTERM") };

afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = 0;
  for (const listener of process.listeners("SIGINT"))
    if (!before.int.includes(listener)) process.off("SIGINT", listener);
  for (const listener of process.listeners("SIGTERM"))
    if (!before.term.includes(listener)) process.off("SIGTERM", listener);
});

test("the echo of a signal, such as `timeout` sends, leaves the report its time; a later one leaves at once", () => {
  const exit = vi.spyOn(process, "exit").mockImplementation((() => undefined) as never);
  let nowMs = 1000;
  const stop = stopOnSignal(() => nowMs);
  process.emit("SIGTERM");
  expect(stop.signal.aborted).toBe(true);
  stop.release();
  nowMs += 100;
  process.emit("SIGTERM");
  expect(exit).not.toHaveBeenCalled();
  nowMs += 1000;
  process.emit("SIGINT");
  expect(exit).toHaveBeenCalledOnce();
  expect(process.exitCode).toBe(EXIT.interrupted);
});

test("where no signal came, nothing listens any more after the release", () => {
  const listening = process.listenerCount("SIGTERM");
  const stop = stopOnSignal();
  expect(process.listenerCount("SIGTERM")).toBe(listening + 1);
  stop.release();
  expect(process.listenerCount("SIGTERM")).toBe(listening);
});
