import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import type { ServiceOptions } from "../policies/options.ts";
import { RequestPool } from "./request.ts";
import type { SimResult } from "./result.ts";
import type { WorldOptions } from "./scenario.ts";
import { World } from "./world.ts";

const size = fc.constantFrom(
  { kind: "exponential", meanMs: 10 } as const,
  { kind: "constant", valueMs: 10 } as const,
  { kind: "pareto", shape: 2.2, scaleMs: 4 } as const,
);
const server = fc.record({
  count: fc.integer({ min: 1, max: 4 }),
  workers: fc.integer({ min: 1, max: 4 }),
  slowdown: fc.constantFrom(1, 5),
  queueTimeoutMs: fc.constantFrom(undefined, 30, 200),
  maxQueued: fc.constantFrom(undefined, 0, 5),
  failRatio: fc.constantFrom(undefined, 0.2),
});
const policy: fc.Arbitrary<ServiceOptions> = fc.record({
  balance: fc.record({ policy: fc.constantFrom("two-choices", "least", "random", "round-robin") }),
  hedge: fc.constantFrom(undefined, { afterMs: 15 }),
  retry: fc.constantFrom({ max: 0 }, { max: 2 }),
  timeout: fc.constantFrom(undefined, { attemptMs: 40 }),
  deadlineMs: fc.constantFrom(60, 1000),
  limit: fc.constantFrom(undefined, { outstanding: 20, perEndpoint: 4, pending: 5 }),
});
const world: fc.Arbitrary<WorldOptions> = fc.record({
  servers: fc.array(server, { minLength: 1, maxLength: 3 }),
  size,
  arrivals: fc.record({
    kind: fc.constant("poisson" as const),
    load: fc.constantFrom(0.5, 0.9, 1.5),
  }),
  requests: fc.constant(400),
  leaves: fc.constantFrom(1, 3),
  cancel: fc.constantFrom("none", "queued", "running"),
  network: fc.constantFrom(undefined, { kind: "exponential", meanMs: 3 } as const),
  policy,
  seed: fc.nat(1000),
});

afterEach(() => {
  vi.restoreAllMocks();
});

test("a world that uses its requests again decides, serves and counts as one that makes each anew", () => {
  fc.assert(
    fc.property(world, (options) => {
      const again = shown(new World(options).run());
      const give = vi.spyOn(RequestPool.prototype, "give").mockImplementation(() => {});
      const anew = shown(new World(options).run());
      give.mockRestore();
      expect(again).toEqual(anew);
    }),
    { numRuns: 150 },
  );
});

function shown({ digests, failures, attemptCount, servers, measuredMs, latency }: SimResult) {
  return { digests, failures, attemptCount, servers, measuredMs, sumUs: latency.sum };
}
