import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isBobtailError } from "../../core/errors.ts";
import { seededRng } from "../../core/rng.ts";
import { type VirtualTime, virtualTime } from "../testing/virtual-time.ts";
import { bed, countListeners, names, nothingUnhandled } from "./client.testbed.ts";
import { ClientDriver } from "./driver.ts";
import type { AttemptReports, LiveAttempt, Sender } from "./sender.ts";

const idempotent = { idempotent: true };
nothingUnhandled();

interface Answer {
  readonly of: number;
  released: number;
}

type Report = (reports: AttemptReports<Answer>, answer: () => Answer) => unknown;

/** Everything a performer may say, including what it must not. */
const REPORTS: readonly Report[] = [
  (r, answer) => r.replied(answer()),
  (r, answer) => r.committed(answer()),
  (r) => r.finished(),
  (r) => r.broke(new Error("body")),
  (r) => r.failed(new Error("failed")),
  (r, answer) => r.failed(new Error("503"), { answer: answer() }),
  (r, answer) => r.failed(new Error("503"), { answer: answer(), pushbackMs: 7 }),
  (r) => r.failed(new Error("refused"), { unsent: true }),
  (r) => r.fatal(new Error("fatal")),
  (r) => r.ignored(new Error("full")),
];

function driverOn(time: VirtualTime, count: number): ClientDriver {
  return new ClientDriver({
    name: "fuzzed",
    options: {
      deadlineMs: 60,
      hedge: { afterMs: 5, max: 2 },
      retry: { max: 2 },
      timeout: { attemptMs: 25 },
      limit: { outstanding: 4, pending: 3 },
      budget: { burstCount: 1000 },
    },
    endpoints: names(count).map((name) => ({ name })),
    clock: time,
    timers: time,
    rng: seededRng(1),
  });
}

test("in any order of reports, timers and aborts a call settles once and gives every answer to one taker", async () => {
  const said = fc.record({
    report: fc.nat(REPORTS.length - 1),
    afterMs: fc.integer({ min: -2, max: 40 }),
  });
  const call = fc.record({
    copies: fc.array(fc.array(said, { maxLength: 4 }), { minLength: 1, maxLength: 4 }),
    throws: fc.boolean(),
    abortMs: fc.option(fc.integer({ min: 0, max: 50 })),
    abortInCancel: fc.boolean(),
    startMs: fc.nat(30),
    idempotent: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 1, maxLength: 6 }),
      fc.nat(3),
      async (calls, endpointCount) => {
        const time = virtualTime();
        const driver = driverOn(time, endpointCount);
        const answers: Answer[] = [];
        const ends = calls.map(async (plan, of) => {
          await time.sleep(plan.startMs);
          const caller = new AbortController();
          const listeners = countListeners(caller.signal);
          if (plan.abortMs !== null)
            time.sleep(plan.abortMs).then(
              () => caller.abort("caller"),
              () => {},
            );
          let sent = 0;
          const sender: Sender<Answer> = {
            send(attempt: LiveAttempt, reports) {
              const script = plan.copies[sent++ % plan.copies.length] ?? [];
              if (plan.abortInCancel) attempt.onCancel(() => caller.abort("caller"));
              if (sent % 2 === 0)
                attempt.signal.addEventListener("abort", () => reports.failed("late"));
              const answer = () => {
                const made = { of, released: 0 };
                answers.push(made);
                return made;
              };
              for (const { report, afterMs } of script) {
                const say = () => (REPORTS[report] as Report)(reports, answer);
                if (afterMs < 0) say();
                else time.sleep(afterMs).then(say, () => {});
              }
              if (plan.throws && sent === 1) throw new Error("thrown");
            },
            release(answer) {
              answer.released++;
            },
          };
          let settles = 0;
          const options = { signal: caller.signal, idempotent: plan.idempotent };
          const end = await driver.run(sender, options).then(
            (answer) => ({ answer, reason: undefined, settles: ++settles }),
            (reason: unknown) => ({ answer: undefined, reason, settles: ++settles }),
          );
          return { end, listeners };
        });
        const results = await time.run(Promise.all(ends));
        await time.runUntilIdle();
        const taken = new Set(results.map(({ end }) => end.answer));
        for (const answer of answers) expect(answer.released).toBe(taken.has(answer) ? 0 : 1);
        for (const [of, { end, listeners }] of results.entries()) {
          expect(end.settles).toBe(1);
          if (end.answer !== undefined) expect(end.answer.of).toBe(of);
          expect(listeners()).toBe(0);
        }
        const { stats } = driver.machine;
        expect([stats.running, stats.pending]).toEqual([0, 0]);
        expect(stats.calls).toBe(stats.succeeded + stats.failed + stats.aborted);
        for (const e of driver.service.balancer.endpoints)
          expect([e.outstanding, e.waiting, e.work]).toEqual([0, 0, 0]);
      },
    ),
    { numRuns: 1500, seed: 11 },
  );
});

test("the answer of a failed copy is held, and handed over when every copy failed", async () => {
  const time = virtualTime();
  const driver = driverOn(time, 3);
  const released: string[] = [];
  const answers = ["503 of the first", "502 of the second", undefined];
  const sender: Sender<string> = {
    send(attempt, reports) {
      const answer = answers[attempt.number - 1];
      if (answer === undefined) reports.failed(new Error("reset"));
      else reports.failed(new Error(answer), { answer });
    },
    release: (answer) => {
      released.push(answer);
    },
  };
  expect(await driver.run(sender, idempotent)).toBe("502 of the second");
  expect(released).toEqual(["503 of the first"]);
});

test("an answer is the caller's when it begins, and the call runs on until its body ends", async () => {
  const time = virtualTime();
  const driver = driverOn(time, 2);
  let live: { attempt: LiveAttempt; reports: AttemptReports<string> } | undefined;
  const sender: Sender<string> = {
    send(attempt, reports) {
      live = { attempt, reports };
      expect(reports.committed("headers")).toBe(true);
    },
  };
  const caller = new AbortController();
  expect(await driver.run(sender, { ...idempotent, signal: caller.signal })).toBe("headers");
  expect(driver.machine.stats.running).toBe(1);
  const reasons: unknown[] = [];
  live?.attempt.onCancel((reason) => reasons.push(reason));
  caller.abort("stop reading");
  expect(reasons).toEqual(["stop reading"]);
  expect(driver.machine.stats).toMatchObject({ running: 0, aborted: 1 });
  live?.reports.finished();
});

test("a body that outlives the deadline is cancelled with the deadline's error", async () => {
  const time = virtualTime();
  const driver = driverOn(time, 1);
  const reasons: unknown[] = [];
  const sender: Sender<string> = {
    send(attempt, reports) {
      attempt.onCancel((reason) => reasons.push(reason));
      reports.committed("headers");
    },
  };
  expect(await driver.run(sender, {})).toBe("headers");
  await time.advance(60);
  expect(isBobtailError(reasons[0], "ERR_BOBTAIL_DEADLINE")).toBe(true);
  expect(time.pendingCount).toBe(0);
});

test("a signal read after the copy was dropped is aborted already, with the same reason", async () => {
  const time = virtualTime();
  const driver = driverOn(time, 2);
  let dropped: LiveAttempt | undefined;
  const sender: Sender<string> = {
    send(attempt, reports) {
      if (attempt.number === 1) dropped = attempt;
      else reports.replied("hedge");
    },
  };
  expect(await time.run(driver.run(sender, idempotent))).toBe("hedge");
  const reasons: unknown[] = [];
  dropped?.onCancel((reason) => reasons.push(reason));
  expect(dropped?.signal.aborted).toBe(true);
  expect(isBobtailError(dropped?.signal.reason, "ERR_BOBTAIL_SUPERSEDED")).toBe(true);
  expect(isBobtailError(reasons[0], "ERR_BOBTAIL_SUPERSEDED")).toBe(true);
});

test("memory is flat: a hundred thousand calls leave nothing behind", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const { time, client } = bed(3);
  const caller = new AbortController();
  const options = { ...idempotent, signal: caller.signal };
  const heapAfter = async (calls: number): Promise<number> => {
    for (let i = 0; i < calls; i++) await client.call((_, a) => a.number, options);
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await heapAfter(20_000);
  const after = await heapAfter(100_000);
  expect(time.pendingCount).toBe(0);
  // Ten bytes a call would be a leak.
  expect(after - before).toBeLessThan(1_000_000);
});

test("a loser that rejects after it was superseded is never an unhandled rejection, and one that answers is given back once", async () => {
  const { time, client } = bed(3);
  const released: string[] = [];
  const run = (loserEnds: () => Promise<string>) =>
    time.run(
      client.call(
        (_, attempt) =>
          attempt.number === 1
            ? time.sleep(100).then(loserEnds)
            : time.sleep(1).then(() => "winner"),
        { ...idempotent, release: (answer) => void released.push(answer) },
      ),
    );
  expect(await run(() => Promise.reject(new Error("late")))).toBe("winner");
  expect(await run(async () => "late answer")).toBe("winner");
  await time.runUntilIdle();
  await new Promise((resolve) => setImmediate(resolve));
  expect(released).toEqual(["late answer"]);
});

test("a release that throws harms nobody", async () => {
  const { time, client } = bed(2);
  const call = client.call((_, a) => time.sleep(a.number === 1 ? 100 : 1).then(() => a.number), {
    ...idempotent,
    release: () => {
      throw new Error("release");
    },
  });
  expect(await time.run(call)).toBe(2);
  await time.runUntilIdle();
});

test("calls made inside calls, three deep and hundreds wide, all settle", async () => {
  const { time, client } = bed(4, { limit: { perEndpoint: 10_000, outstanding: 40_000 } });
  const inner = (depth: number): Promise<number> =>
    client.call(async (_, a) => {
      await time.sleep((depth * 7 + a.number) % 40);
      return depth === 0 ? 1 : (await inner(depth - 1)) + 1;
    }, idempotent);
  const sums = await time.run(Promise.all(Array.from({ length: 200 }, () => inner(3))));
  expect(sums.every((n) => n === 4)).toBe(true);
  await time.runUntilIdle();
  expect(client.stats().running).toBe(0);
});
