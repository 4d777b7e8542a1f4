// How to test code that calls a service with Bobtail: no waiting, no sockets, the same every time.
//   node docs/examples/testing.mjs
import assert from "node:assert/strict";
import { createClient } from "bobtail";
import { scriptedFunction, virtualTime } from "bobtail/testing";

const time = virtualTime();
const client = createClient({
  endpoints: [
    { name: "a", target: "replica a" },
    { name: "b", target: "replica b" },
  ],
  hedge: { afterMs: 20 },
  clock: time,
  timers: time,
  seed: 1,
});

// The first copy hangs; the second answers in 5 ms.
const { fn, copies } = scriptedFunction(time, (copy) =>
  copy.kind === "primary"
    ? { afterMs: Number.POSITIVE_INFINITY, answer: "never" }
    : { afterMs: 5, answer: "quick" },
);
assert.equal(await time.run(client.call(fn, { idempotent: true })), "quick");
assert.equal(time.nowMs(), 25);
assert.deepEqual(
  copies.map((copy) => [copy.kind, copy.cancelledAtMs]),
  [
    ["primary", 25],
    ["hedge", undefined],
  ],
);
console.log("ok: hedged after 20 ms, won at 25 ms, the loser was cancelled");
