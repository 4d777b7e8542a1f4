import fc from "fast-check";
import { expect, test } from "vitest";
import { Call } from "./call.ts";
import { FakeHedger } from "./fake-policy.testbed.ts";
import { PendingQueue } from "./pending-queue.ts";

const { cls } = new FakeHedger(0, 0, 0);

test("keeps the order of arrival, whoever leaves from wherever", () => {
  const operation = fc.record({ kind: fc.constantFrom("put", "take", "leave"), at: fc.nat(20) });
  fc.assert(
    fc.property(
      fc.array(operation, { maxLength: 60 }),
      fc.integer({ min: 0, max: 5 }),
      (ops, max) => {
        const queue = new PendingQueue(max, { pending: 0 });
        const model: Call[] = [];
        for (const { kind, at } of ops) {
          const chosen = model[at % Math.max(1, model.length)];
          if (kind === "put") {
            const c = new Call(cls, undefined);
            expect(queue.put(c)).toBe(model.length < max);
            if (model.length < max) model.push(c);
          } else if (kind === "take" && queue.first !== undefined) {
            const head = queue.first;
            queue.remove(head);
            // What cannot be placed after all returns to where it was.
            if (at % 2 === 0) queue.putBack(head);
            else model.shift();
          } else if (kind === "leave" && chosen !== undefined) {
            queue.remove(chosen);
            model.splice(model.indexOf(chosen), 1);
          }
          expect(contents(queue)).toEqual(model);
          expect(queue.size).toBe(model.length);
        }
      },
    ),
    { seed: 31 },
  );
});

test("a call that has left holds on to no other call", () => {
  const queue = new PendingQueue(3, { pending: 0 });
  const calls = [0, 1, 2].map((host) => new Call(cls, host));
  for (const c of calls) queue.put(c);
  for (const c of calls) queue.remove(c);
  expect(calls.flatMap((c) => [c.pendingNext, c.pendingPrevious])).toEqual(
    Array(6).fill(undefined),
  );
});

function contents(queue: PendingQueue): Call[] {
  const calls: Call[] = [];
  let previous: Call | undefined;
  for (let c = queue.first; c !== undefined; c = c.pendingNext) {
    expect(c.pendingPrevious).toBe(previous);
    calls.push(c);
    previous = c;
  }
  return calls;
}
