import { seededRng } from "bobtail/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Job, VirtualQueue } from "./virtual-queue.ts";

interface Arrival {
  readonly atMs: number;
  readonly serviceMs: number;
}

interface Fate {
  readonly outcome: "served" | "timed-out";
  readonly startMs: number;
  readonly endMs: number;
}

/** The law written the other way round: each arrival looks up when its worker will be free. */
function reference(arrivals: readonly Arrival[], workers: number, limitMs: number): Fate[] {
  const freeMs = Array.from({ length: workers }, () => 0);
  return arrivals.map(({ atMs, serviceMs }) => {
    freeMs.sort((a, b) => a - b);
    const startMs = Math.max(atMs, freeMs[0] ?? 0);
    if (startMs > atMs + limitMs)
      return { outcome: "timed-out", startMs: 0, endMs: atMs + limitMs };
    freeMs[0] = startMs + serviceMs;
    return { outcome: "served", startMs, endMs: startMs + serviceMs };
  });
}

function play(
  arrivals: readonly Arrival[],
  workers: number,
  limitMs: number,
  advances: readonly number[],
): Fate[] {
  const fates: Fate[] = [];
  const ended = (job: Job<number>): void => {
    const outcome = job.state === "served" ? "served" : "timed-out";
    const startMs = outcome === "served" ? job.startMs : 0;
    fates[job.host] = { outcome, startMs, endMs: job.endMs };
  };
  const queue = new VirtualQueue<number>(
    { workers, queueLimitMs: limitMs, maxQueued: 1_000 },
    ended,
    ended,
  );
  const looks = [...advances].sort((a, b) => a - b);
  arrivals.forEach(({ atMs, serviceMs }, index) => {
    while ((looks[0] ?? Number.POSITIVE_INFINITY) <= atMs) queue.advance(looks.shift() ?? 0);
    queue.arrive(new Job(serviceMs, index), atMs);
  });
  queue.advance(1e9);
  expect([queue.queued, queue.running]).toEqual([0, 0]);
  return fates;
}

const schedules = fc
  .array(
    fc.record({
      gapMs: fc.integer({ min: 0, max: 40 }),
      serviceMs: fc.integer({ min: 0, max: 200 }),
    }),
    { maxLength: 60 },
  )
  .map((steps) => {
    let atMs = 0;
    return steps.map(({ gapMs, serviceMs }) => {
      atMs += gapMs;
      return { atMs, serviceMs };
    });
  });

test("waiting times are those of the queueing model, however late or often the clock is read", () => {
  fc.assert(
    fc.property(
      schedules,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 300 }),
      fc.array(fc.nat(3_000), { maxLength: 40 }),
      (arrivals, workers, limitMs, advances) => {
        expect(play(arrivals, workers, limitMs, advances)).toEqual(
          reference(arrivals, workers, limitMs),
        );
      },
    ),
    { numRuns: 1_000, seed: 1 },
  );
});

test("four workers at 70 % load make requests wait as long as Erlang's formula says", () => {
  const rng = seededRng(7);
  const meanMs = 10;
  const exponential = (mean: number): number => -Math.log(1 - rng.next()) * mean;
  const arrivals: Arrival[] = [];
  let atMs = 0;
  for (let i = 0; i < 200_000; i++) {
    atMs += exponential(meanMs / (4 * 0.7));
    arrivals.push({ atMs, serviceMs: exponential(meanMs) });
  }
  let waitedMs = 0;
  const queue = new VirtualQueue<undefined>(
    { workers: 4, queueLimitMs: Number.POSITIVE_INFINITY, maxQueued: 100_000 },
    (job) => {
      waitedMs += job.startMs - job.arrivalMs;
    },
    () => {},
  );
  for (const a of arrivals) queue.arrive(new Job(a.serviceMs, undefined), a.atMs);
  queue.advance(Number.MAX_SAFE_INTEGER);
  // Erlang C with offered load a = 2.8: P(wait) = 0.4287, mean wait = P(wait) / (4/mean - rate).
  expect(waitedMs / arrivals.length).toBeCloseTo((0.4287 * meanMs) / (4 - 2.8), 0);
});

test("a request that waits longer than the limit is given up at the limit and uses no worker", () => {
  expect(
    play(
      [
        { atMs: 0, serviceMs: 100 },
        { atMs: 0, serviceMs: 7 },
        { atMs: 60, serviceMs: 7 },
      ],
      1,
      50,
      [],
    ),
  ).toEqual([
    { outcome: "served", startMs: 0, endMs: 100 },
    { outcome: "timed-out", startMs: 0, endMs: 50 },
    { outcome: "served", startMs: 100, endMs: 107 },
  ]);
});

function oneWorker(maxQueued: number): {
  queue: VirtualQueue<string>;
  served: string[];
  arrive: (name: string, atMs: number) => Job<string>;
} {
  const served: string[] = [];
  const queue = new VirtualQueue<string>(
    { workers: 1, queueLimitMs: 1_000, maxQueued },
    (job) => served.push(`${job.host} ${job.startMs}-${job.endMs}`),
    () => {},
  );
  const arrive = (name: string, atMs: number): Job<string> => {
    const job = new Job(10, name);
    queue.arrive(job, atMs);
    return job;
  };
  return { queue, served, arrive };
}

test("a client that goes away while it waits frees its place and is never served", () => {
  const { queue, served, arrive } = oneWorker(2);
  arrive("a", 0);
  const b = arrive("b", 0);
  arrive("c", 0);
  queue.cancel(b, 5, false);
  expect(arrive("d", 5).state).toBe("queued");
  queue.advance(100);
  expect([b.state, ...served]).toEqual(["cancelled", "a 0-10", "c 10-20", "d 20-30"]);
});

test("a client that goes away while it is served keeps the worker busy, unless work is aborted", () => {
  for (const abortRunning of [false, true]) {
    const { queue, served, arrive } = oneWorker(2);
    const a = arrive("a", 0);
    arrive("b", 0);
    queue.cancel(a, 4, abortRunning);
    queue.advance(100);
    expect(served).toEqual(abortRunning ? ["b 4-14"] : ["a 0-10", "b 10-20"]);
  }
});

test("a job that started before a late cancel arrived counts as running", () => {
  const { queue, arrive } = oneWorker(2);
  arrive("a", 0);
  const b = arrive("b", 0);
  queue.cancel(b, 15, false);
  expect([b.state, b.startMs]).toEqual(["running", 10]);
});

test("one more than the queue holds is refused", () => {
  const { arrive } = oneWorker(1);
  arrive("a", 0);
  arrive("b", 0);
  expect(arrive("c", 0).state).toBe("refused");
});
