import { expect, test } from "vitest";
import { DecisionLog } from "./decision-log.ts";
import { mergeResults } from "./result.ts";
import { decodeResult, encodeResult } from "./result-codec.ts";
import {
  batchInterval,
  busyRatio,
  extraRatio,
  littleError,
  meanMs,
  quantileMs,
  shareOf,
} from "./result-views.ts";
import type { Fault, WorldOptions } from "./scenario.ts";
import { plain, unguardedHedge } from "./scenarios/policies.ts";
import { World } from "./world.ts";

const BASE: WorldOptions = {
  servers: [{ count: 4, workers: 2 }],
  size: { kind: "exponential", meanMs: 10 },
  arrivals: { kind: "poisson", load: 0.6 },
  requests: 20_000,
  policy: { balance: { policy: "two-choices", load: "outstanding" }, hedge: { afterMs: 25 } },
  seed: 7,
};

function run(change: Partial<WorldOptions> = {}) {
  return new World({ ...BASE, ...change }).run();
}

/** Requests at those times to one server, of that size each. */
function scripted(atMs: readonly number[], sizeMs: number, change: Partial<WorldOptions> = {}) {
  return run({
    servers: [{}],
    size: { kind: "constant", valueMs: sizeMs },
    arrivals: { kind: "trace", atMs },
    requests: atMs.length,
    warmUpRatio: 0,
    policy: plain({}),
    ...change,
  });
}

test("the same seed gives the same decisions and the same figures, another seed others", () => {
  const first = run();
  expect(encodeResult(run())).toEqual(encodeResult(first));
  expect(first.digests[0]).toMatch(/^[0-9a-f]{16}$/);
  expect(run({ seed: 8 }).digests).not.toEqual(first.digests);
});

test("policies are compared on the same requests: arrivals and sizes do not depend on what is decided", () => {
  const total = (change: Partial<WorldOptions>) => {
    const world = new World({ ...BASE, ...change, warmUpRatio: 0 });
    const result = world.run();
    return result.servers.reduce((sum, s) => sum + s.busyMs, 0);
  };
  const one = total({ policy: plain({ policy: "random" }) });
  const other = total({ policy: plain({ policy: "least" }) });
  expect(other).toBeCloseTo(one, 6);
});

test("every call is accounted for, and Little's law holds to rounding, with hedges, failures and crashes", () => {
  const faults: Fault[] = [{ kind: "crash", atMs: 1000, forMs: 500, everyMs: 4000 }];
  const result = run({
    servers: [
      { count: 3, workers: 2 },
      { workers: 2, faults, failRatio: 0.05 },
    ],
    network: { kind: "exponential", meanMs: 0.3 },
    warmUpRatio: 0,
  });
  expect(result.callCount).toBe(20_000);
  expect(result.latency.count + result.failedAfter.count).toBe(20_000);
  expect(result.retryCount).toBeGreaterThan(0);
  expect(littleError(result)).toBeLessThan(1e-9);
  const sent = result.servers.reduce((sum, s) => sum + s.sentCount, 0);
  // A copy whose cancel overtook it never arrives.
  expect(sent).toBeLessThanOrEqual(result.attemptCount);
  expect(sent).toBeGreaterThan(0.99 * result.attemptCount);
});

test("a pause delays what is in service and what waits by its length", () => {
  const faults: Fault[] = [{ kind: "pause", atMs: 5, forMs: 100 }];
  const result = scripted([0, 1], 10, { servers: [{ faults }] });
  expect([result.latency.min, result.latency.max]).toEqual([110_000, 119_000]);
});

test("a slow period stretches the work that falls into it, and no more", () => {
  const faults: Fault[] = [{ kind: "slow", atMs: 5, forMs: 10, factor: 2 }];
  // 5 ms of work before it, 5 in it, then 10 more.
  expect(scripted([0], 20, { servers: [{ faults }] }).latency.max).toBe(25_000);
});

test("a crash fails what the server holds at once, and it refuses until it is back", () => {
  const faults: Fault[] = [{ kind: "crash", atMs: 5, forMs: 100 }];
  const result = scripted([0, 1, 50, 200], 10, { servers: [{ faults, failAfterMs: 2 }] });
  expect(result.failures).toEqual({ "all-failed": 3 });
  expect([result.failedAfter.min, result.failedAfter.max]).toEqual([2000, 5000]);
  expect(result.latency.max).toBe(10_000);
});

test("a full queue refuses, and one that waited too long is dropped without using the worker", () => {
  const refused = scripted([0, 1, 2], 10, { servers: [{ maxQueued: 1 }] });
  expect([refused.failedCount, refused.failedAfter.max]).toEqual([1, 0]);
  const late = scripted([0, 1], 100, { servers: [{ queueTimeoutMs: 20 }] });
  expect(late.failedAfter.max).toBe(20_000);
  expect(late.servers[0]?.startedCount).toBe(1);
});

test("urgent requests overtake, and copies that are extra are served after those that are not", () => {
  const size = { kind: "constant", valueMs: 10 } as const;
  const result = run({
    servers: [{ priorities: 2 }],
    classes: [
      { name: "urgent", share: 0.5, size },
      { name: "batch", share: 0.5, size, priority: 1 },
    ],
    size: undefined,
    arrivals: { kind: "poisson", load: 0.9 },
    policy: plain({}),
  });
  const fifo = run({
    servers: [{}],
    size,
    arrivals: { kind: "poisson", load: 0.9 },
    policy: plain({}),
  });
  expect(quantileMs(result, 0.3)).toBeLessThan(quantileMs(fifo, 0.3));
  expect(quantileMs(result, 0.99)).toBeGreaterThan(quantileMs(fifo, 0.99));
});

test("messages take their time both ways", () => {
  const network = { kind: "constant", valueMs: 3 } as const;
  expect(scripted([0], 10, { network }).latency.max).toBe(16_000);
});

test("what a cancel achieves is as told: nothing, the queue, or the worker", () => {
  const busy = (cancel: WorldOptions["cancel"]) => {
    const policy = plain({}, unguardedHedge(5));
    return busyRatio(run({ cancel, policy, arrivals: { kind: "poisson", load: 0.4 } }));
  };
  const [none, queued, running] = [busy("none"), busy("queued"), busy("running")];
  expect(none).toBeGreaterThan(queued);
  expect(queued).toBeGreaterThan(running);
});

test("a root request takes as long as its slowest leaf, and each leaf has a shard of its own", () => {
  const result = run({ servers: [{ count: 2, workers: 4 }], shards: 5, leaves: 5, requests: 4000 });
  expect(result.root.count).toBe(3600);
  expect(result.callCount).toBe(18_000);
  expect(result.servers).toHaveLength(10);
  expect(result.root.quantile(0.5)).toBeGreaterThan(result.latency.quantile(0.8));
});

test("a balancer that sees counts of a moment ago herds: the least loaded of then gets them all", () => {
  const policy = plain({ policy: "least" });
  const fresh = run({ policy });
  const stale = run({ policy, reports: { everyMs: 50 } });
  expect(meanMs(stale)).toBeGreaterThan(1.5 * meanMs(fresh));
});

test("trace sizes, bursts, ramps and steps bring what they say", () => {
  const trace = scripted([0, 100, 200], 1, {
    arrivals: { kind: "trace", atMs: [0, 100, 200], sizeMs: [5, 6, 7] },
  });
  expect([trace.latency.min, trace.latency.max]).toEqual([5000, 7000]);
  const seconds = (arrivals: WorldOptions["arrivals"], requests: number) =>
    run({
      arrivals,
      requests,
      warmUpRatio: 0,
      servers: [{ workers: "unlimited" }],
      policy: plain({}),
    }).measuredMs / 1000;
  expect(seconds({ kind: "uniform", ratePerSecond: 100 }, 1000)).toBeCloseTo(10, 0);
  const bursts = {
    kind: "on-off",
    onPerSecond: 900,
    onMs: 100,
    offPerSecond: 0,
    offMs: 200,
  } as const;
  expect(Math.abs(seconds(bursts, 30_000) / 100 - 1)).toBeLessThan(0.03);
  const ramp = { kind: "ramp", fromPerSecond: 0, toPerSecond: 1000, overMs: 10_000 } as const;
  expect(Math.abs(seconds(ramp, 25_000) / 30 - 1)).toBeLessThan(0.03);
  const steps = {
    kind: "steps",
    steps: [
      { ratePerSecond: 100, forMs: 1000 },
      { ratePerSecond: 500, forMs: 1000 },
    ],
  } as const;
  expect(Math.abs(seconds(steps, 30_000) / 100 - 1)).toBeLessThan(0.03);
});

test("chores on all servers at one moment stop all of them, staggered ones leave a replica free", () => {
  const p99 = (placement: "aligned" | "staggered") => {
    const chores = { everyMs: 500, forMs: 60, placement } as const;
    const world = {
      servers: [{ count: 2, workers: 4 }],
      chores,
      arrivals: { kind: "poisson", load: 0.2 },
    } as const;
    return quantileMs(
      run({
        ...world,
        size: { kind: "constant", valueMs: 2 },
        policy: plain({}, unguardedHedge(4)),
      }),
      0.99,
    );
  };
  expect(p99("staggered")).toBeLessThan(p99("aligned") / 3);
});

test("results of shards merge to what one machine would have found, through JSON too", () => {
  const [a, b] = [run(), run({ seed: 8 })];
  const merged = mergeResults([a, b]);
  expect(merged.callCount).toBe(a.callCount + b.callCount);
  expect(merged.latency.count).toBe(a.latency.count + b.latency.count);
  expect(merged.digests).toEqual([...a.digests, ...b.digests]);
  const again = mergeResults(
    [a, b].map((r) => decodeResult(JSON.parse(JSON.stringify(encodeResult(r))))),
  );
  expect(encodeResult(again)).toEqual(encodeResult(merged));
  expect(extraRatio(merged)).toBeCloseTo((extraRatio(a) + extraRatio(b)) / 2, 6);
  expect(() => decodeResult({ schema: "other" })).toThrow(/schema/);
  expect(() => mergeResults([])).toThrow(/at least one/);
  expect(() => mergeResults([a, run({ servers: [{ workers: 8 }] })])).toThrow(/servers/);
});

test("an interval comes from twenty batches, and holds the true mean about as often as it says", () => {
  const world = {
    servers: [{}],
    policy: plain({}),
    arrivals: { kind: "poisson", load: 0.5 },
    requests: 20_000,
  } as const;
  let held = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const interval = batchInterval(run({ ...world, seed }), (h) => h.mean / 1000);
    expect(interval.count).toBe(20);
    if (interval.low <= 20 && 20 <= interval.high) held++;
  }
  expect(held).toBeGreaterThanOrEqual(33);
});

test("an observer sees every decision in order, told by the places of the endpoints", () => {
  const log = new DecisionLog(["0", "1"]);
  const options = {
    ...BASE,
    servers: [{ interference: { kind: "constant", valueMs: 100 } as const, count: 2 }],
    size: { kind: "constant", valueMs: 1 } as const,
    arrivals: { kind: "trace", atMs: [0] } as const,
    requests: 1,
    warmUpRatio: 0,
  };
  new World(options, { observer: log }).run();
  expect(log.entries).toHaveLength(5);
  expect(log.entries.map((entry) => entry.replace(/\d/, "N"))).toEqual([
    "pick N",
    "hedge N",
    "win N",
    "superseded N",
    "settle ok",
  ]);
});

test("shares are of what came to the servers", () => {
  const result = run({ policy: plain({ policy: "round-robin" }) });
  for (let i = 0; i < 4; i++) expect(shareOf(result, i)).toBeCloseTo(0.25, 3);
});
