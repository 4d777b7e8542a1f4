import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRng } from "../core/rng.ts";
import { EventQueue } from "./event-queue.ts";

interface Pending {
  readonly timeMs: number;
  readonly id: number;
  handle: number;
}

test("events come out in order of time, equal times in order of insertion, whatever is removed between", () => {
  const step = fc.record({
    kind: fc.constantFrom("push", "push", "push", "pop", "remove"),
    delayMs: fc.oneof(
      fc.constant(0),
      fc.double({ min: 0, max: 5, noNaN: true }),
      fc.double({ min: 0, max: 1e6, noNaN: true }),
    ),
    at: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
      const queue = new EventQueue();
      const model: Pending[] = [];
      let id = 0;
      let nowMs = 0;
      const popBoth = () => {
        const index = model.reduce(
          (best, p, i) => (p.timeMs < (model[best] as Pending).timeMs ? i : best),
          0,
        );
        const [expected] = model.splice(index, 1);
        expect(queue.pop()).toBe(expected !== undefined);
        if (expected === undefined) return;
        expect([queue.timeMs, queue.subject]).toEqual([expected.timeMs, expected.id]);
        nowMs = queue.timeMs;
      };
      for (const { kind, delayMs, at } of steps) {
        if (kind === "push") {
          const timeMs = nowMs + delayMs;
          model.push({ timeMs, id, handle: queue.push(timeMs, id & 255, id) });
          id++;
        } else if (kind === "remove" && model.length > 0) {
          const [gone] = model.splice(at % model.length, 1);
          queue.remove((gone as Pending).handle);
        } else if (kind === "pop") popBoth();
        expect(queue.size).toBe(model.length);
      }
      while (model.length > 0) popBoth();
      expect(queue.pop()).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test("a hundred thousand pending events and far deadlines come out in order", () => {
  const queue = new EventQueue();
  const rng = seededRng(4);
  for (let i = 0; i < 100_000; i++)
    queue.push(i % 10 === 0 ? 30_000 + rng.next() : rng.next() * 100, 1, undefined);
  let last = 0;
  let count = 0;
  while (queue.pop()) {
    if (queue.timeMs < last) throw new Error(`${queue.timeMs} after ${last}`);
    last = queue.timeMs;
    count++;
    if (count < 50_000 && count % 3 === 0) queue.push(last + rng.next() * 5, 2, undefined);
  }
  expect(count).toBe(100_000 + Math.floor(49_999 / 3));
});
