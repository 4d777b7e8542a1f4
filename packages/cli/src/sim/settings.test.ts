import type { Scenario } from "bobtail/sim";
import { expect, test } from "vitest";
import { CommandFailure } from "../terminal/failure.ts";
import { parsePath, showPath, withValue } from "./data-path.ts";
import { smallScenario } from "./scenario.testbed.ts";
import { applySettings } from "./settings.ts";
import { parseSweep } from "./sweep-values.ts";

const set = async (...sets: readonly string[]): Promise<Scenario> => {
  const subject = { name: "small", data: smallScenario() };
  const { subjects } = await applySettings([subject], { sets, sweeps: [] });
  return (subjects[0] as { data: Scenario }).data;
};

const failure = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CommandFailure);
  const { message, remedy } = error as CommandFailure;
  return `${message} | ${remedy}`;
};

test("a value is read as its field wants it: number, ratio, duration, word, list, mapping", async () => {
  expect(await set("arrivals.load=0.5")).toMatchObject({ arrivals: { load: 0.5 } });
  expect(await set("arrivals.load=70%")).toMatchObject({ arrivals: { load: 0.7 } });
  expect(await set("policies.hedged.hedge.afterMs=1.5s")).toMatchObject({
    policies: { hedged: { hedge: { afterMs: 1500 } } },
  });
  expect(await set("policies.hedged.hedge.afterMs=auto")).toMatchObject({
    policies: { hedged: { hedge: { afterMs: "auto" } } },
  });
  expect(await set("policies.hedged.hedge.afterMs={quantile: 0.9}")).toMatchObject({
    policies: { hedged: { hedge: { afterMs: { quantile: 0.9 } } } },
  });
  expect(await set("size={kind: empirical, valuesMs: [1, 2]}")).toMatchObject({
    size: { kind: "empirical", valuesMs: [1, 2] },
  });
  expect(await set("name=5")).toMatchObject({ name: "5" });
  expect(await set("occupancy=true", "cancel=none")).toMatchObject({
    occupancy: true,
    cancel: "none",
  });
});

test("a path reaches one entry, all entries, and fields that are not written yet", async () => {
  expect((await set("servers[1].slowdown=9")).servers).toMatchObject([
    { count: 3 },
    { slowdown: 9 },
  ]);
  expect((await set("servers.1.slowdown=9")).servers[1]?.slowdown).toBe(9);
  expect((await set("servers[*].maxQueued=5")).servers.map((s) => s.maxQueued)).toEqual([5, 5]);
  expect(await set("reports.everyMs=20ms")).toMatchObject({ reports: { everyMs: 20 } });
});

test("`policy` is every policy where there are several", async () => {
  const { policies } = await set("policy.deadlineMs=2s");
  expect(Object.values(policies ?? {}).map((policy) => policy.deadlineMs)).toEqual([2000, 2000]);
});

test("nothing after the equals sign removes the field, so a rate can take the place of a load", async () => {
  const { arrivals } = await set("arrivals.load=", "arrivals.ratePerSecond=100");
  expect(arrivals).toEqual({ kind: "poisson", ratePerSecond: 100 });
});

test("the scenario that was given stays as it was", async () => {
  const before = smallScenario();
  await applySettings([{ name: "x", data: before }], { sets: ["servers[0].count=9"], sweeps: [] });
  expect(before).toEqual(smallScenario());
});

test.each([
  ["arrivals.laod=0.5", /arrivals\.laod is not known here: did you mean load\?/],
  ["servers[0].slowdwn=2", /servers\[0\]\.slowdwn .*did you mean slowdown\?/],
  ["servers[7].slowdown=2", /servers has no entry \[7\] \| It has \[0\] to \[1\]/],
  ["policies.hedgd.deadlineMs=5", /no policy "hedgd" \| Did you mean "hedged"\?/],
  ["arrivals.load=fast", /arrivals\.load is "fast": give a number above 0/],
  ["arrivals.load=70ms", /arrivals\.load is 70: give a number above 0 and at most 10/],
  ["requests.count=2", /requests is 500, which has no fields/],
  ["policies.hedged.hedge.afterMs=-5", /afterMs/],
  ["seed=4", /Use --seed/],
  ["runs=4", /Use --runs/],
  ["arrivals", /expected a path and a value/],
  ["a..b=1", /is not a path/],
  ["servers[0=1", /is not a path/],
  ["__proto__.x=1", /unknown key/],
  ["servers[0].count=10000000", /servers\[0\]\.count is 10000000/],
])("%s is refused with its path and a remedy", async (text, message) => {
  expect(await failure(set(text))).toMatch(message);
});

test("fields that are in range each, and together are a world that no machine holds, are refused", async () => {
  const message = await failure(set("servers[0].count=10000", "shards=10000"));
  expect(message).toMatch(/servers are 100010000 in all shards: give at most 100000/);
});

test("every mistake of all settings is told at once", async () => {
  const message = await failure(set("servers[0].workers=0", "warmUpRatio=2"));
  expect(message).toMatch(/2 mistakes\n.*servers\[0\]\.workers.*\n.*warmUpRatio/);
});

test.each([
  ["a=0.1..0.9:0.1", ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"]],
  ["a=0.1..0.3:0.1", ["0.1", "0.2", "0.3"]],
  ["a=1..3", ["1", "2", "3"]],
  ["a=3..1:-1", ["3", "2", "1"]],
  ["a=10..15:2", ["10", "12", "14"]],
  ["a=10ms..30ms:10ms", ["10ms", "20ms", "30ms"]],
  ["a=10%..30%:10%", ["10%", "20%", "30%"]],
  ["a=x,y", ["x", "y"]],
  ["a={k: 1, l: 2},[1,2],'p,q'", ["{k: 1, l: 2}", "[1,2]", "'p,q'"]],
  ["a=5..5", ["5"]],
])("--sweep %s has its values, both ends included", (text, values) => {
  expect(parseSweep(text)).toEqual({ path: "a", values });
});

test.each([
  "a=1..9:0",
  "a=1..9:-1",
  "a",
  "=1..2",
  "a=",
  "a=1,,2",
  "a=1..1e9",
  "a=1ms..2s:1ms",
  "a=1..9999",
])("--sweep %s is refused", (text) => {
  expect(() => parseSweep(text)).toThrow(CommandFailure);
});

test("a sweep has a row for each policy at each point, policy by policy", async () => {
  const subject = { name: "small", data: smallScenario() };
  const { axes, subjects } = await applySettings([subject], {
    sets: [],
    sweeps: ["arrivals.load=30%..50%:20%", "servers[1].slowdown=2,4,8"],
  });
  expect(axes).toEqual([
    { path: "arrivals.load", values: [0.3, 0.5] },
    { path: "servers[1].slowdown", values: [2, 4, 8] },
  ]);
  expect(subjects.map(({ at }) => at)).toEqual(
    [0.3, 0.5].flatMap((a) => [2, 4, 8].map((b) => [a, b])),
  );
});

test("a path with names in quotes reaches a policy whose name has a dot", () => {
  const steps = parsePath('policies["v1.2"].deadlineMs');
  expect(steps).toEqual(["policies", "v1.2", "deadlineMs"]);
  const placed = withValue({ policies: { "v1.2": {} } }, steps as string[], 5);
  expect(placed).toEqual({ data: { policies: { "v1.2": { deadlineMs: 5 } } } });
  expect(showPath(["servers", 0, "count"])).toBe("servers[0].count");
});
