import fc from "fast-check";
import { expect, test } from "vitest";
import { Job, WorkQueue } from "./queue.ts";

test("the most urgent class is served first, and within a class whoever came first", () => {
  const queue = new WorkQueue({ workers: 1, priorities: 2 });
  const jobs = [0, 1, 0, 1, 0].map((priority, i) => {
    const job = new Job(i);
    job.priority = priority;
    queue.arrive(job, i);
    return job;
  });
  const order: unknown[] = [];
  for (let job: Job | undefined = jobs[0]; job !== undefined; job = queue.finish(job))
    order.push(job.host);
  expect(order).toEqual([0, 2, 4, 1, 3]);
});

test("the oldest is whoever came first of all that wait, of whatever class, and not the next to be served", () => {
  const queue = new WorkQueue({ workers: 1, priorities: 4 });
  queue.workers = 0;
  expect(queue.oldest()).toBeUndefined();
  const jobs = [3, 1, 2, 0, 1].map((priority, i) => {
    const job = new Job(i);
    job.priority = priority;
    queue.arrive(job, 10 * i);
    return job;
  });
  expect(queue.next()).toBe(jobs[3]);
  for (const job of jobs) {
    expect(queue.oldest()).toBe(job);
    queue.drop(job);
  }
  expect(queue.oldest()).toBeUndefined();
});

test("a full queue refuses, and a paused one starts nothing until it is woken", () => {
  const queue = new WorkQueue({ workers: 1, maxQueued: 1 });
  queue.workers = 0;
  const waiting = new Job("waiting");
  expect(queue.arrive(waiting, 0)).toBe("queued");
  expect(queue.arrive(new Job("late"), 0)).toBe("refused");
  expect(queue.startNext()).toBeUndefined();
  queue.workers = 1;
  expect(queue.startNext()).toBe(waiting);
});

test("options out of range are refused by name", () => {
  expect(() => new WorkQueue({ workers: 0 })).toThrow(/workers: expected a whole number >= 1/);
  expect(() => new WorkQueue({ workers: 1, maxQueued: -1 })).toThrow(/maxQueued/);
  expect(() => new WorkQueue({ workers: 1, priorities: 17 })).toThrow(/priorities/);
});

test("no job is lost or started twice, and the oldest is known, whatever arrives, ends and leaves in whatever order", () => {
  const step = fc.record({
    kind: fc.constantFrom("arrive", "arrive", "finish", "drop"),
    priority: fc.nat(4),
    at: fc.nat(),
  });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 300 }),
      fc.integer({ min: 1, max: 3 }),
      (steps, workers) => {
        const queue = new WorkQueue({ workers, priorities: 3, maxQueued: 20 });
        const running: Job[] = [];
        const waiting: Job[] = [];
        // The model: a stable sort by class of what waits.
        const head = () =>
          [...waiting].sort((a, b) => Math.min(a.priority, 2) - Math.min(b.priority, 2))[0];
        for (const [nowMs, { kind, priority, at }] of steps.entries()) {
          if (kind === "arrive") {
            const job = new Job(undefined);
            job.priority = priority;
            const arrival = queue.arrive(job, nowMs);
            expect(arrival).toBe(
              running.length < workers ? "started" : waiting.length < 20 ? "queued" : "refused",
            );
            if (arrival === "started") running.push(job);
            else if (arrival === "queued") waiting.push(job);
          } else if (kind === "finish" && running.length > 0) {
            const [job] = running.splice(at % running.length, 1);
            const expected = head();
            const next = queue.finish(job as Job);
            expect(next).toBe(expected);
            if (next !== undefined) {
              waiting.splice(waiting.indexOf(next), 1);
              running.push(next);
            }
          } else if (kind === "drop" && waiting.length > 0) {
            const [job] = waiting.splice(at % waiting.length, 1);
            queue.drop(job as Job);
          }
          expect([queue.running, queue.queued]).toEqual([running.length, waiting.length]);
          expect(queue.oldest()).toBe(waiting[0]);
        }
      },
    ),
  );
});
