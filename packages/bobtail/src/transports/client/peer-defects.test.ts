import { AsyncLocalStorage } from "node:async_hooks";
import { expect, test } from "vitest";
import { isBobtailError } from "../../core/errors.ts";
import { bed, countListeners, nothingUnhandled, reasonOf } from "./client.testbed.ts";
import type { LiveAttempt } from "./sender.ts";

// Defects that other clients have had, each recreated: the number is its row in the list of them.

const idempotent = { idempotent: true };
nothingUnhandled();

test("B1 B3: the winner's signal is not aborted when its answer is handed over, nor later", async () => {
  const { time, client } = bed(2, { timeout: { attemptMs: 50 }, deadlineMs: 100 });
  const signals: AbortSignal[] = [];
  const open = async (_: string, attempt: LiveAttempt) => {
    signals.push(attempt.signal);
    await time.sleep(attempt.number === 1 ? 500 : 5);
    return { readBody: () => attempt.signal.throwIfAborted() };
  };
  const answer = await time.run(client.call(open, idempotent));
  await time.advance(10_000);
  expect(signals.map((s) => s.aborted)).toEqual([true, false]);
  answer.readBody();
});

test("B2: each attempt has a signal of its own, and a caller's abort stops further launches", async () => {
  const { time, client } = bed(5, { hedge: { afterMs: 10, max: 4 } });
  const signals: AbortSignal[] = [];
  const caller = new AbortController();
  const call = client.call(
    (_, attempt) => {
      signals.push(attempt.signal);
      return new Promise<never>(() => {});
    },
    { ...idempotent, signal: caller.signal },
  );
  const reason = reasonOf(call);
  await time.advance(15);
  caller.abort("enough");
  await time.advance(500);
  expect(await reason).toBe("enough");
  expect([signals.length, new Set(signals).size]).toEqual([2, 2]);
  expect(signals.map((s) => s.reason)).toEqual(["enough", "enough"]);
});

test("B4: an empty budget suppresses the hedge, and the primary goes on to answer", async () => {
  const { time, client } = bed(2, { budget: { extraRatio: 0, burstCount: 1 } });
  const slow = () => time.sleep(100).then(() => "primary");
  for (let i = 0; i < 5; i++) expect(await time.run(client.call(slow, idempotent))).toBe("primary");
  expect(client.stats().skipped.budget).toBeGreaterThan(0);
});

test("B10: a failure launches the next attempt at once, not when the hedge is due", async () => {
  const { time, client } = bed(2, { hedge: { afterMs: 500 } });
  const fn = (_: string, attempt: LiveAttempt) => {
    if (attempt.number === 1) throw new Error("quick failure");
    return time.nowMs();
  };
  expect(await time.run(client.call(fn, idempotent))).toBe(1000);
});

test("B11: an attempt that answers, throws or fails while it is being launched settles the call once", async () => {
  const { time, client } = bed(3);
  const sync = client.call(() => "sync", idempotent);
  const thrown = client.call(() => {
    throw new Error("sync");
  }, idempotent);
  expect(client.stats().running).toBe(0);
  expect(await sync).toBe("sync");
  expect(isBobtailError(await reasonOf(thrown), "ERR_BOBTAIL_ALL_FAILED")).toBe(true);
  const hedgeAnswersInside = client.call(
    (_, a) => (a.number === 1 ? new Promise<string>(() => {}) : "hedge"),
    idempotent,
  );
  expect(await time.run(hedgeAnswersInside)).toBe("hedge");
  expect(time.pendingCount).toBe(0);
});

test("B12: aborting the caller, or another attempt, from inside a cancel is harmless", async () => {
  const { time, client } = bed(3);
  const caller = new AbortController();
  const fn = (_: string, attempt: LiveAttempt) => {
    attempt.signal.addEventListener("abort", () => caller.abort(new Error("from inside")));
    attempt.onCancel(() => caller.abort(new Error("from inside")));
    return attempt.number === 1 ? new Promise<string>(() => {}) : "hedge";
  };
  const released: string[] = [];
  const release = (answer: string): void => {
    released.push(answer);
  };
  const call = client.call<string>(fn, { ...idempotent, signal: caller.signal, release });
  const reason = reasonOf(call);
  await time.advance(100);
  // The caller gave up before it was handed the answer: it hears its own reason, and the answer is given back.
  expect(await reason).toBe(caller.signal.reason);
  expect(released).toEqual(["hedge"]);
  expect(client.stats()).toMatchObject({ running: 0, aborted: 1 });
  expect(client.stats().endpoints.every((e) => e.outstanding === 0)).toBe(true);
});

test("B14: a hedge never goes to the endpoint of the primary, and with one endpoint there is none", async () => {
  const { time, client } = bed(2);
  for (let i = 0; i < 50; i++) {
    const seen: string[] = [];
    const fn = (replica: string, a: LiveAttempt) => {
      seen.push(replica);
      return a.number === 1 ? time.sleep(100) : undefined;
    };
    await time.run(client.call(fn, { ...idempotent }));
    expect(new Set(seen).size).toBe(seen.length);
  }
  const single = bed(1);
  await single.time.run(single.client.call(() => single.time.sleep(100), idempotent));
  expect(single.client.stats()).toMatchObject({ attempts: 1, skipped: { no_alternative: 1 } });
});

test("B15 B26: after 10,000 calls on one long-lived signal no listener, timer or count is left", async () => {
  const { time, client } = bed(4, { limit: { outstanding: 20_000, perEndpoint: 20_000 } });
  const caller = new AbortController();
  const listeners = countListeners(caller.signal);
  const options = { ...idempotent, signal: caller.signal, deadlineMs: 300 };
  const ends: Promise<unknown>[] = [];
  for (let i = 0; i < 10_000; i++) {
    const fn = (_: string, attempt: LiveAttempt): unknown => {
      if (i % 3 === 0) attempt.signal;
      if (i % 5 === 0) throw new Error("sync");
      if (i % 7 === 0) return time.sleep(1000, attempt.signal);
      if (i % 11 === 0) return time.sleep(30).then(() => Promise.reject(new Error("late")));
      return time.sleep(i % 50);
    };
    ends.push(client.call(fn, options).catch(() => {}));
    if (i % 500 === 0) await time.advance(10);
  }
  expect(listeners()).toBeGreaterThan(0);
  await time.run(Promise.all(ends));
  expect(listeners()).toBe(0);
  expect(client.stats()).toMatchObject({ calls: 10_000, running: 0, pending: 0 });
  expect(client.stats().endpoints.map((e) => e.outstanding)).toEqual([0, 0, 0, 0]);
  await time.runUntilIdle();
  expect(time.pendingCount).toBe(0);
}, 120_000);

test("hundreds of calls at one time under one signal draw no warning of a leak", async () => {
  const { time, client } = bed(4);
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  const caller = new AbortController();
  const options = { signal: caller.signal };
  const calls = Array.from({ length: 300 }, () => client.call(() => time.sleep(1), options));
  await time.run(Promise.all(calls));
  process.off("warning", note);
  expect(warnings).toEqual([]);
});

test("B20: the caller's signal is taken once, whatever the caller does to the options afterwards", async () => {
  const { time, client } = bed(2);
  const caller = new AbortController();
  const options: { idempotent: true; signal: AbortSignal } = {
    ...idempotent,
    signal: caller.signal,
    idempotent: true,
  };
  const reason = reasonOf(client.call(() => new Promise<never>(() => {}), options));
  options.signal = new AbortController().signal;
  await time.advance(50);
  caller.abort("mine");
  expect(await reason).toBe("mine");
});

test("B21: the caller's abort rejects with the caller's own reason, and only if the caller caused it", async () => {
  const { time, client } = bed(2);
  const never = () => new Promise<never>(() => {});
  const caller = new AbortController();
  const cause = { any: "value" };
  const first = reasonOf(client.call(never, { signal: caller.signal }));
  caller.abort(cause);
  expect(await first).toBe(cause);
  expect(await reasonOf(client.call(never, { signal: caller.signal }))).toBe(cause);
  expect(await reasonOf(client.call(never, { signal: AbortSignal.abort() }))).toHaveProperty(
    "name",
    "AbortError",
  );
  const late = new AbortController();
  const deadline = reasonOf(time.run(client.call(never, { signal: late.signal, deadlineMs: 10 })));
  expect(isBobtailError(await deadline, "ERR_BOBTAIL_DEADLINE")).toBe(true);
  expect(client.stats().aborted).toBe(1);
});

test("B22: every copy, also one sent by a timer that another call armed, runs in its caller's async context", async () => {
  const { time, client } = bed(3);
  const requestId = new AsyncLocalStorage<string>();
  const seen: string[] = [];
  const handle = (id: string) =>
    requestId.run(id, () =>
      client.call(async (_, attempt) => {
        seen.push(`${attempt.kind} ${requestId.getStore()}`);
        await time.sleep(attempt.number === 1 ? 100 : 1);
        seen.push(`${attempt.kind} ${requestId.getStore()}`);
      }, idempotent),
    );
  await time.run(Promise.all([handle("a"), handle("b")]));
  await time.runUntilIdle();
  const once = ["hedge a", "hedge b", "primary a", "primary b"];
  expect(seen.sort()).toEqual(once.flatMap((line) => [line, line]));
});

test("B23: an attempt that timed out leaves no signal aborted for the calls after it", async () => {
  const { time, client } = bed(1, {
    hedge: undefined,
    retry: { max: 0 },
    timeout: { attemptMs: 10 },
  });
  await reasonOf(time.run(client.call((_, a) => time.sleep(50, a.signal))));
  const aborted = await time.run(client.call(async (_, a) => a.signal.aborted));
  expect(aborted).toBe(false);
});

test("B25: an aborted call leaves no timer that could reject later", async () => {
  const { time, client } = bed(2);
  const caller = new AbortController();
  const reason = reasonOf(
    client.call(() => new Promise<never>(() => {}), { ...idempotent, signal: caller.signal }),
  );
  expect(time.pendingCount).toBe(1);
  caller.abort("gone");
  expect(time.pendingCount).toBe(0);
  expect(await reason).toBe("gone");
  await time.advance(100_000);
});

test("B27: an abort is heard while nothing of the call runs and it waits for a place", async () => {
  const { time, client } = bed(1, { limit: { outstanding: 1 } });
  const running = client.call(() => time.sleep(100).then(() => "done"));
  const caller = new AbortController();
  const waiting = reasonOf(client.call((r) => r, { signal: caller.signal }));
  expect(client.stats().pending).toBe(1);
  caller.abort("not waiting");
  expect(await waiting).toBe("not waiting");
  expect(client.stats().pending).toBe(0);
  expect(await time.run(running)).toBe("done");
});

test("B31: a waiting call that was aborted takes no place in the queue", async () => {
  const { time, client } = bed(1, { limit: { outstanding: 1, pending: 1 } });
  const running = client.call(() => time.sleep(100));
  for (let i = 0; i < 20; i++) {
    const caller = new AbortController();
    const waiting = reasonOf(client.call((r) => r, { signal: caller.signal }));
    caller.abort(i);
    expect(await waiting).toBe(i);
  }
  const last = client.call((r) => r);
  await time.run(running);
  expect(await last).toBe("target e0");
});
