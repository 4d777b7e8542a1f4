import { expect, test } from "vitest";
import { seededRng } from "../core/rng.ts";
import type { Port } from "./port.ts";
import { createService } from "./service.ts";

const idle: Port = { send() {}, cancel() {}, wakeAt() {}, settle() {} };

function build(options: Parameters<typeof createService>[0]["options"] = {}) {
  const endpoints = [{ name: "a", weight: 3 }, { name: "b" }];
  return createService({ options, endpoints, port: idle, rng: seededRng(1), nowMs: 0 });
}

test.each([
  [
    [
      { name: "a", weight: 9 },
      { name: "b", weight: -1 },
    ],
    "endpoint.weight: expected a number above 0, received -1",
  ],
  [[{ name: "a", weight: 9 }, { name: "a" }], "distinct endpoints"],
  [[{ name: "a", weight: 9 }, { name: "" }], "endpoint.name"],
])("a list of endpoints that is refused changes nothing", (wanted, message) => {
  const service = build();
  expect(() => service.setEndpoints(wanted, 1)).toThrow(message);
  expect(service.balancer.endpoints.map((e) => [e.name, e.weight])).toEqual([
    ["a", 3],
    ["b", 1],
  ]);
});

test("endpoints that stay are the same objects with the new weight", () => {
  const service = build();
  const [a] = service.balancer.endpoints;
  service.setEndpoints([{ name: "c" }, { name: "a", weight: 2, virtual: true }], 1);
  expect(service.balancer.endpoints[1]).toBe(a);
  expect([a?.weight, a?.virtual]).toEqual([2, true]);
});

test.each([
  [{ deadlineMs: 0 }, "deadlineMs: expected milliseconds above 0, received 0"],
  [{ deadlineMs: Number.NaN }, "deadlineMs"],
  [{ retry: { max: 9 } }, "retry.max: expected a whole number in [0, 8], received 9"],
  [{ limit: { perEndpoint: 0 } }, "limit.perEndpoint: expected a whole number >= 1, received 0"],
  [{ timeout: { attemptMs: -1 } }, "timeout.attemptMs: expected milliseconds above 0, received -1"],
  [
    { hedge: { afterMs: 900 }, deadlineMs: 800 },
    "hedge.afterMs: expected less than the deadline of 800 ms",
  ],
  [{ hedge: { afterMs: { quantile: 95 } } }, "quantile"],
  [{ budget: { extraRatio: 3 } }, "budget.extraRatio"],
])(
  "an option out of range is refused with its name, its bound and its value: %j",
  (options, message) => {
    expect(() => build(options)).toThrow(message);
  },
);
