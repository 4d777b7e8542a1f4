import { expect, test } from "vitest";
import { extraRatio, shareOf } from "./result-views.ts";
import type { ServerOptions, WorldOptions } from "./scenario.ts";
import { plain } from "./scenarios/policies.ts";
import { capacityPerSecond } from "./servers.ts";
import { World } from "./world.ts";

const BASE: Omit<WorldOptions, "servers"> = {
  size: { kind: "exponential", meanMs: 10 },
  arrivals: { kind: "poisson", ratePerSecond: 100 },
  requests: 20_000,
  policy: plain({ policy: "round-robin" }),
};

function run(servers: readonly ServerOptions[], change: Partial<WorldOptions> = {}) {
  return new World({ ...BASE, servers, ...change }).run();
}

test("a server gets the share of the copies that its weight asks for, in each shard", () => {
  const servers = [{ weight: 6 }, { count: 2, weight: 1 }];
  const result = run(servers);
  expect([0, 1, 2].map((i) => shareOf(result, i))).toEqual([
    expect.closeTo(0.75, 3),
    expect.closeTo(0.125, 3),
    expect.closeTo(0.125, 3),
  ]);
  const sharded = run(servers, { shards: 2, leaves: 2, requests: 5_000 });
  expect(shareOf(sharded, 3)).toBeCloseTo(0.375, 3);
  expect(shareOf(sharded, 4)).toBeCloseTo(0.0625, 3);
});

test("a weight does not change what a server can do", () => {
  const capacity = (servers: ServerOptions[]) => capacityPerSecond({ ...BASE, servers }, 10);
  expect(capacity([{ workers: 2, weight: 7 }])).toBe(capacity([{ workers: 2 }]));
});

test("a second copy may go to a lone server only where that is virtual", () => {
  const policy = { hedge: { afterMs: 5 }, budget: { extraRatio: 1 } };
  expect(extraRatio(run([{ workers: 4 }], { policy }))).toBe(0);
  expect(extraRatio(run([{ workers: 4, virtual: true }], { policy }))).toBeGreaterThan(0.1);
});
