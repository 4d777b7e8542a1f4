import fc from "fast-check";
import { expect, test } from "vitest";
import { virtualTime } from "./virtual-time.ts";

test("time moves only when told to, and wakes in order of time and of arming", async () => {
  const time = virtualTime({ startMs: 100 });
  const seen: string[] = [];
  for (const [name, ms] of [
    ["b", 20],
    ["a", 10],
    ["c", 20],
    ["z", 0],
  ] as const)
    void time.sleep(ms).then(() => seen.push(`${name}@${time.nowMs()}`));
  await time.advance(19.5);
  expect([seen, time.nowMs()]).toEqual([["z@100", "a@110"], 119.5]);
  await time.advance(10);
  expect([seen, time.nowMs()]).toEqual([["z@100", "a@110", "b@120", "c@120"], 129.5]);
});

test("what a wake starts is part of the same advance", async () => {
  const time = virtualTime();
  let rounds = 0;
  const loop = async () => {
    for (; rounds < 5; rounds++) await time.sleep(10);
  };
  const done = loop();
  await time.advance(35);
  expect(rounds).toBe(3);
  await time.run(done);
  expect([rounds, time.nowMs(), time.pendingCount]).toEqual([5, 50, 0]);
});

test("a sleep ends at once with the reason of its signal, and leaves nothing pending", async () => {
  const time = virtualTime();
  const stop = new AbortController();
  const slept = time.sleep(1000, stop.signal).catch((reason: unknown) => reason);
  stop.abort("woken");
  expect(await slept).toBe("woken");
  expect(await time.sleep(1, stop.signal).catch((reason: unknown) => reason)).toBe("woken");
  expect(time.pendingCount).toBe(0);
});

test("a promise that nothing can settle is reported, not waited for", async () => {
  const time = virtualTime();
  await expect(time.run(new Promise(() => {}))).rejects.toThrow(/stands still/);
  await expect(time.run(Promise.reject(new Error("passed on")))).rejects.toThrow("passed on");
});

test("any sleeps wake sorted by their time", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(50), { maxLength: 30 }), async (delays) => {
      const time = virtualTime();
      const seen: number[] = [];
      for (const ms of delays) void time.sleep(ms).then(() => seen.push(ms));
      await time.runUntilIdle();
      expect(seen).toEqual([...delays].sort((a, b) => a - b));
    }),
    { numRuns: 50, seed: 3 },
  );
});
