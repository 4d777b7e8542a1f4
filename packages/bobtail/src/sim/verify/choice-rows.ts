import type { SimResult } from "../result.ts";
import { heldAtLeast } from "../result-views.ts";
import type { WorldOptions } from "../scenario.ts";
import { plain } from "../scenarios/policies.ts";
import { redundant, STALE_TABLE, theoryWorld, UNIT_MS } from "../scenarios/queueing.ts";
import { bisect } from "../theory.ts";
import { runWorld, type SimRow } from "./sim-row.ts";

function meanUnits(r: SimResult): number {
  return r.latency.mean / 1000 / UNIT_MS;
}

function choicesWorld(servers: number, load: number, choices: number): WorldOptions {
  return { ...theoryWorld(servers, load, 16_000_000), policy: plain({ choices }), occupancy: true };
}

/** Long queues are so sensitive to the luck of the arrivals that a whole run is four of a quarter each. */
function runChoices(world: WorldOptions, scale: number): SimResult {
  return runWorld(world, scale, scale < 1 ? 1 : 4);
}

function supermarketRows(): SimRow[] {
  const two = choicesWorld(500, 0.9, 2);
  const row = (
    id: string,
    fact: string,
    [expected, within]: readonly [number, number],
    of: (scale: number) => number,
  ): SimRow => ({
    id,
    fact,
    source: "independent simulation; theory for ever more servers",
    expected,
    tolerance: { kind: "ratio", value: within },
    // The rarest of the tails needs more events than a quick run has.
    quick: id === "13 (>= 5)" ? undefined : { scale: 0.008, slack: 4 },
    compute: (scale = 1) => of(scale),
  });
  const tails: readonly (readonly [number, number])[] = [
    [2, 0.728],
    [3, 0.477],
    [4, 0.206],
    [5, 0.04],
  ];
  return [
    row("13 T", "two choices of 500 at load 0.9: mean time", [2.612, 0.01], (s) =>
      meanUnits(runChoices(two, s)),
    ),
    ...tails.map(([i, share]) =>
      row(
        `13 (>= ${i})`,
        `two choices of 500 at load 0.9: share of servers with ${i}`,
        [share, 0.03],
        (s) => heldAtLeast(runChoices(two, s), i),
      ),
    ),
    row("14a", "three choices of 100 at load 0.9: mean time", [2.069, 0.015], (s) =>
      meanUnits(runChoices(choicesWorld(100, 0.9, 3), s)),
    ),
    row("14b", "two choices of 100 at load 0.7: mean time", [1.619, 0.015], (s) =>
      meanUnits(runChoices(choicesWorld(100, 0.7, 2), s)),
    ),
    row("14c", "two choices of 100 at load 0.95: mean time", [3.449, 0.015], (s) =>
      meanUnits(runChoices(choicesWorld(100, 0.95, 2), s)),
    ),
    row(
      "56a",
      "two choices of 500 at load 0.9: p99",
      [8.85, 0.02],
      (s) => runChoices(two, s).latency.quantile(0.99) / 1000 / UNIT_MS,
    ),
    row(
      "56b",
      "three choices of 500 at load 0.9: p99",
      [7.33, 0.02],
      (s) => runChoices(choicesWorld(500, 0.9, 3), s).latency.quantile(0.99) / 1000 / UNIT_MS,
    ),
  ];
}

function staleWorld(t: number, servers: number, balance: "two" | "least"): WorldOptions {
  const policy = balance === "two" ? plain({ choices: 2 }) : plain({ policy: "least" });
  return { ...theoryWorld(servers, 0.9, 4_000_000), reports: { everyMs: t * UNIT_MS }, policy };
}

function staleRows(): SimRow[] {
  const table = STALE_TABLE.map(
    ([t, mean]): SimRow => ({
      id: `15 (T ${t})`,
      fact: `two choices of 100 at load 0.9, counts refreshed every ${t} service times: mean time`,
      source: "independent simulation",
      expected: mean,
      tolerance: { kind: "ratio", value: 0.03 },
      quick: t === 1 || t === 10 ? { scale: 0.025, slack: 4 } : undefined,
      compute: (scale = 1) => meanUnits(runWorld(staleWorld(t, 100, "two"), scale)),
    }),
  );
  const order = [1, 2, 5, 10, 20].map(
    (t): SimRow => ({
      id: `16 (T ${t})`,
      fact: `least of all is worse than two choices with counts ${t} old (64 servers): ratio of mean times`,
      source: "Mitzenmacher, 2000; independent simulation",
      expected: 1,
      tolerance: { kind: "least" },
      quick: t === 5 ? { scale: 0.02, slack: 1 } : undefined,
      compute: (scale = 1) =>
        meanUnits(runWorld(staleWorld(t, 64, "least"), scale)) /
        meanUnits(runWorld(staleWorld(t, 64, "two"), scale)),
    }),
  );
  const herds = [5, 10].map(
    (t): SimRow => ({
      id: `16 (random, T ${t})`,
      fact: `least of all is worse than random with counts ${t} old: mean time, random is 10`,
      source: "Mitzenmacher, 2000; independent simulation",
      expected: 10,
      tolerance: { kind: "least" },
      compute: (scale = 1) => meanUnits(runWorld(staleWorld(t, 64, "least"), scale)),
    }),
  );
  return [...table, ...order, ...herds];
}

/** Four million copies on each side of the crossing tell it to a tenth of its tolerance. */
const CROSSING_REQUESTS = 2_000_000;

/** Where the mean with two copies crosses the mean with one, as a load: from runs at both sides, by a straight line. */
function crossing(
  servers: number,
  loads: readonly [number, number],
  size: WorldOptions["size"],
  scale: number,
): number {
  const gaps = loads.map((load) => {
    const world = { ...theoryWorld(servers, load, CROSSING_REQUESTS), size };
    const one = { ...world, servers: [{ count: servers }], policy: plain({ policy: "random" }) };
    return Math.log(
      meanUnits(runWorld(redundant(world, servers), scale)) / meanUnits(runWorld(one, scale)),
    );
  });
  const [from, to] = loads;
  const [low, high] = gaps as [number, number];
  return bisect((x) => low + ((x - from) / (to - from)) * (high - low), from, to);
}

function thresholdRows(): SimRow[] {
  const constant = { kind: "constant", valueMs: UNIT_MS } as const;
  const exponential = { kind: "exponential", meanMs: UNIT_MS } as const;
  const row = (
    id: string,
    fact: string,
    [expected, within]: readonly [number, number],
    compute: (scale: number) => number,
  ): SimRow => ({
    id,
    fact,
    source: "Vulimiri et al., 2013; independent simulation",
    expected,
    tolerance: { kind: "absolute", value: within },
    // A random pick looks at every endpoint, so large fleets are slow.
    quick: id === "19a" ? { scale: 0.04, slack: 6 } : undefined,
    compute: (scale = 1) => compute(scale),
  });
  return [
    row(
      "18",
      "two copies, exponential work, 200 servers: the load up to which they help",
      [1 / 3, 0.005],
      (s) => crossing(200, [0.32, 0.347], exponential, s),
    ),
    row(
      "19a",
      "two copies, constant work, 20 servers: the load up to which they help",
      [0.262, 0.004],
      (s) => crossing(20, [0.25, 0.275], constant, s),
    ),
    row(
      "19b",
      "two copies, constant work, 1,000 servers: the load up to which they help",
      [0.272, 0.004],
      (s) => crossing(1000, [0.26, 0.285], constant, s),
    ),
  ];
}

function clientRows(): SimRow[] {
  const cases: readonly (readonly [number, number])[] = [
    [1, 2.66],
    [20, 5.08],
    [100, 7.12],
  ];
  return cases.map(([clients, mean]) => ({
    id: `61 (${clients})`,
    fact: `two choices of 100 at load 0.9 on the own counts of each of ${clients} clients: mean time`,
    source: "independent simulation",
    expected: mean,
    tolerance: { kind: "ratio", value: 0.03 },
    quick: { scale: 0.015, slack: 4 },
    compute: (scale: number = 1) =>
      meanUnits(
        runWorld({ ...theoryWorld(100, 0.9, 8_000_000), clients, policy: plain({}) }, scale),
      ),
  }));
}

export const choiceRows: readonly SimRow[] = [
  ...supermarketRows(),
  ...staleRows(),
  ...thresholdRows(),
  ...clientRows(),
];
