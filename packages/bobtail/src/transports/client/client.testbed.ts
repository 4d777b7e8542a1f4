import { afterAll, beforeAll, expect } from "vitest";
import { type VirtualTime, virtualTime } from "../testing/virtual-time.ts";
import { createClient, type TargetClient } from "./client.ts";
import type { TargetClientOptions } from "./client-options.ts";

export interface Bed {
  readonly time: VirtualTime;
  readonly client: TargetClient<string>;
}

/** A client of `count` endpoints in virtual time, with a hedge after 20 ms and one retry unless told otherwise. */
export function bed(count: number = 3, options: Partial<TargetClientOptions<string>> = {}): Bed {
  const time = virtualTime({ startMs: 1000 });
  const client = createClient<string>({
    endpoints: names(count).map((name) => ({ name, target: `target ${name}` })),
    clock: time,
    timers: time,
    seed: 1,
    deadlineMs: 1000,
    hedge: { afterMs: 20 },
    ...options,
  });
  return { time, client };
}

export function names(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `e${i}`);
}

/** What a rejected promise rejected with; throws if it did not. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  const nothing = {};
  const reason = await promise.then(
    () => nothing,
    (error: unknown) => error,
  );
  if (reason === nothing) throw new Error("the promise was expected to reject");
  return reason;
}

/** Counts the listeners that are on a signal. */
export function countListeners(signal: AbortSignal): () => number {
  let count = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = function (...args: Parameters<typeof addEventListener>) {
    count++;
    addEventListener.apply(this, args);
  };
  signal.removeEventListener = function (...args: Parameters<typeof removeEventListener>) {
    count--;
    removeEventListener.apply(this, args);
  };
  return () => count;
}

/** Fails the file whose tests leave a rejection that nobody handles. */
export function nothingUnhandled(): void {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  beforeAll(() => {
    process.on("unhandledRejection", note);
  });
  afterAll(() => {
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
}
