import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRng } from "../core/rng.ts";
import { type Bench, FleetBench, ModelBench } from "./queue-timeout.testbed.ts";

const anyStep = fc.record({
  kind: fc.oneof(
    { weight: 12, arbitrary: fc.constant("send" as const) },
    { weight: 3, arbitrary: fc.constant("cancel" as const) },
    { weight: 1, arbitrary: fc.constantFrom("crash", "restart", "pause", "resume", "slow") },
  ),
  gapMs: fc.nat(12),
  sizeMs: fc.nat(40),
  priority: fc.nat(3),
  resends: fc.nat(2),
  at: fc.nat(),
  alsoRunning: fc.boolean(),
});
type Step = Parameters<Parameters<typeof anyStep.map>[0]>[0];

const anyServer = fc.record({
  workers: fc.integer({ min: 1, max: 3 }),
  priorities: fc.integer({ min: 1, max: 3 }),
  maxQueued: fc.constantFrom(2, 8, Number.POSITIVE_INFINITY),
  queueTimeoutMs: fc.integer({ min: 0, max: 60 }),
});

test("whoever waits longer than the queue timeout leaves exactly then, nobody earlier, and nobody is forgotten", () => {
  fc.assert(
    fc.property(
      fc.array(anyStep, { maxLength: 150 }),
      anyServer,
      fc.nat(),
      (steps, options, seed) => {
        // Fractions of a millisecond keep moments apart, so that their order is nobody's choice.
        const rng = seededRng(seed);
        const server = {
          ...options,
          queueTimeoutMs: options.queueTimeoutMs + rng.next(),
          failAfterMs: 1 + rng.next(),
        };
        const timed = steps.map((step) => ({
          ...step,
          gapMs: step.gapMs + rng.next(),
          sizeMs: step.sizeMs + rng.next(),
        }));
        const fleet = new FleetBench(server);
        const model = new ModelBench(server);
        drive(fleet, timed);
        drive(model, timed);
        expect(fleet.leaves).toEqual(model.leaves);
        expect([fleet.server.held, fleet.events.size, fleet.server.giveUpEvent]).toEqual([
          0, 0, -1,
        ]);
      },
    ),
    { numRuns: 500 },
  );
});

/** One step after the other, then on until everything that was sent has left. */
function drive(bench: Bench, steps: readonly Step[]): void {
  const sent: string[] = [];
  let nowMs = 0;
  for (const { kind, gapMs, sizeMs, priority, resends, at, alsoRunning } of steps) {
    nowMs += gapMs;
    bench.runTo(nowMs);
    if (kind === "send") {
      sent.push(String(sent.length));
      bench.send({ id: String(sent.length - 1), priority, sizeMs, resends });
    } else if (kind === "cancel") {
      const id = sent[at % sent.length];
      if (id !== undefined) bench.cancel(id, alsoRunning);
    } else if (kind === "crash") bench.crash();
    else if (kind === "restart") bench.restart();
    else bench.setSpeed({ pause: 0, resume: 1, slow: 0.25 }[kind]);
  }
  // The last fault ends, else what is in service would stand still for ever.
  bench.restart();
  bench.setSpeed(1);
  bench.runTo(Number.POSITIVE_INFINITY);
  expect(sent.filter((id) => !bench.leaves.has(id))).toEqual([]);
}
