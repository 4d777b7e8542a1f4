import { expect, test } from "vitest";
import { isBobtailError } from "../core/errors.ts";
import { seededRng } from "../core/rng.ts";
import { type BalancerOptions, createBalancer } from "./create-balancer.ts";
import { Endpoint } from "./endpoint.ts";

function refusalOf(build: () => unknown): unknown {
  try {
    build();
  } catch (error) {
    if (isBobtailError(error, "ERR_BOBTAIL_OPTION")) return error.details;
    throw error;
  }
  return undefined;
}

test.each([
  ["balance.policy", { policy: "fastest" }],
  ["balance.load", { load: "cpu" }],
  ["balance.choices", { choices: 1 }],
  ["balance.choices", { choices: 9 }],
  ["balance.choices", { choices: 2.5 }],
  ["balance.decayMs", { decayMs: 0 }],
  ["balance.decayMs", { decayMs: Number.NaN }],
  ["balance.decayMs", { decayMs: Number.POSITIVE_INFINITY }],
])("%s out of range is refused by name: %o", (option, options) => {
  const all = { perEndpoint: 1, ...options } as BalancerOptions;
  expect(refusalOf(() => createBalancer(all, seededRng(1)))).toMatchObject({ option });
});

test("least refuses a sixty-fifth endpoint and keeps the set it had", () => {
  const balancer = createBalancer({ policy: "least", perEndpoint: 1 }, seededRng(1));
  const endpoints = Array.from({ length: 65 }, (_, i) => new Endpoint({ name: `e${i}` }));
  balancer.update(endpoints.slice(1), 0);
  expect(refusalOf(() => balancer.update(endpoints, 0))).toMatchObject({ received: 65 });
  expect(balancer.endpoints.map((e) => e.listed)).toEqual(Array.from({ length: 64 }, () => true));
});

test("an update does not keep hold of the caller's list", () => {
  const balancer = createBalancer({ perEndpoint: 1 }, seededRng(1));
  const list = [new Endpoint({ name: "a" })];
  balancer.update(list, 0);
  list.pop();
  expect(balancer.endpoints.length).toBe(1);
});
