import { createService, type Port, seededRng } from "bobtail/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parsePolicy } from "./load-policy.ts";
import { starterPolicy } from "./starter-policy.ts";

const IDLE: Port = { send() {}, cancel() {}, wakeAt() {}, settle() {} };

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const record = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(shape, { requiredKeys: [] });
const duration = (min: number, max: number) =>
  fc.oneof(
    fc.integer({ min, max }).map((ms) => `${ms}ms`),
    fc
      .integer({ min: Math.ceil(min / 1000) || 1, max: Math.max(1, Math.floor(max / 1000)) })
      .map((s) => `${s}s`),
  );
const count = (min: number, max: number) =>
  fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max));

const hedge = fc.oneof(
  fc.constantFrom("auto", "p97", "p99.9", "p1", "0ms", "12ms"),
  record({
    max: count(1, 4),
    minSamples: count(20, 1000),
  }).chain((rest) =>
    fc
      .oneof(
        fc.record({
          after: fc.constantFrom("auto", "p50"),
          floor: duration(1, 900),
          ceiling: duration(1000, 9000),
        }),
        fc.record({ after: fc.constantFrom("auto", "p90"), floor: duration(1, 900) }),
        fc.record({ after: duration(0, 999) }),
      )
      .map((delay) => ({ ...delay, ...rest })),
  ),
);

const service = fc.record(
  {
    endpoints: fc.uniqueArray(
      fc.record({
        url: fc.nat(65_534).map((port) => `http://127.0.0.1:${port + 1}`),
        weight: fc.oneof(fc.constant(1), fc.double({ min: 0.001, max: 1000, noNaN: true })),
        virtual: fc.boolean(),
      }),
      { minLength: 5, maxLength: 70, selector: (endpoint) => endpoint.url },
    ),
    balance: record({
      policy: fc.constantFrom("round-robin", "random", "least", "two-choices"),
      load: fc.constantFrom("outstanding", "work", "peak-ewma"),
      choices: count(2, 8),
      errorPenalty: fc.boolean(),
      decay: duration(1, 60_000),
    }),
    hedge,
    budget: record({
      extra: fc.oneof(
        fc.integer({ min: 1, max: 200 }).map((p) => `${p}%`),
        fc.constantFrom(0.001, 2),
      ),
      burst: count(1, 10_000),
      minPerSecond: count(0, 1000),
      maxPerSecond: count(1000, 100_000),
    }),
    retry: record({
      max: count(0, 8),
      on: fc.array(
        fc.oneof(fc.integer({ min: 400, max: 599 }), fc.constantFrom("reset", "connect-failure")),
      ),
    }),
    deadline: duration(1000, 86_400_000),
    timeout: record({
      connect: duration(1, 10_000),
      attempt: duration(1, 10_000),
      bodyIdle: duration(1, 10_000),
      keepAlive: duration(1, 10_000),
    }),
    limit: record({
      outstanding: count(1, 100_000),
      perEndpoint: count(1, 100_000),
      pending: count(0, 100_000),
      replayBody: optional(fc.constantFrom("0B", "64KiB", 0, 100)),
    }),
  },
  { requiredKeys: ["endpoints", "budget"] },
);

function build(text: string): "refused" | number {
  const reading = parsePolicy(text);
  if (!reading.ok) return "refused";
  const names = Object.entries(reading.config.services).map(([name, { options, endpoints }]) => {
    createService({
      options,
      endpoints: endpoints.map(({ url, ...rest }) => ({ name: url, ...rest })),
      port: IDLE,
      rng: seededRng(1),
      nowMs: 0,
    });
    return name;
  });
  return names.length;
}

test("every policy that passes the check is accepted by the library", () => {
  let accepted = 0;
  fc.assert(
    fc.property(service, (generated) => {
      if (build(JSON.stringify({ services: { s: generated } })) !== "refused") accepted++;
    }),
    { numRuns: 400, seed: 5 },
  );
  // Only `least` over 64 endpoints and nothing else may be refused here.
  expect(accepted).toBeGreaterThan(360);
});

test("the starter file passes the check and is accepted, with any number of endpoints", () => {
  expect(build(starterPolicy([]))).toBe(1);
  expect(build(starterPolicy(["http://h:1"]))).toBe(1);
  expect(build(starterPolicy(["http://h:1", "https://h:2", "http://h:3"]))).toBe(1);
});
