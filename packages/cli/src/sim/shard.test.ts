import fc from "fast-check";
import { expect, test } from "vitest";
import { mergedReport } from "./merge.ts";
import { compute, jobOf, simulate, smallScenario, VERSION } from "./scenario.testbed.ts";
import { tasksOf } from "./shard.ts";
import { parseShardFile, type ShardFile, shardFile } from "./shard-file.ts";
import type { SimJob } from "./sim-job.ts";
import { simJson } from "./sim-json.ts";
import { planJob } from "./sim-plan.ts";

/** The file that each of n shards writes, as text. */
async function shardTexts(
  job: SimJob,
  count: number,
): Promise<{ readonly file: string; readonly text: string }[]> {
  const plan = await planJob(job);
  return Array.from({ length: count }, (_, i) => {
    const shard = { index: i + 1, count };
    const results = compute(plan, shard);
    const file = shardFile({ job, version: VERSION, shard }, { results, complete: true });
    return { file: `${i + 1}.json`, text: JSON.stringify(file) };
  });
}

test("shards in any number and order merge to exactly what one run of all gives", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        count: fc.integer({ min: 1, max: 7 }),
        runs: fc.integer({ min: 1, max: 4 }),
        seed: fc.integer({ min: -100, max: 100 }),
        leaves: fc.integer({ min: 1, max: 3 }),
        isSwept: fc.boolean(),
        shuffle: fc.infiniteStream(fc.nat()),
      }),
      async ({ count, runs, seed, leaves, isSwept, shuffle }) => {
        const sweeps = isSwept ? ["arrivals.load=0.3,0.6"] : [];
        const scenario = smallScenario({ requests: 150, leaves });
        const job = jobOf(scenario, { runs, seed, sweeps });
        const texts = await shardTexts(job, count);
        texts.sort(() => (Number(shuffle.next().value) % 2 === 0 ? 1 : -1));
        const merged = await mergedReport(texts, VERSION);
        expect(JSON.stringify(simJson(merged))).toBe(JSON.stringify(simJson(await simulate(job))));
      },
    ),
    { numRuns: 15, seed: 1 },
  );
});

test("shards of a sampled scenario and of a whole table merge too", async () => {
  for (const [name, more] of [
    ["cache", { runs: 3, scale: 0.2 }],
    ["planned-send", {}],
  ] as const) {
    const job = jobOf(name, more);
    const merged = await mergedReport(await shardTexts(job, 3), VERSION);
    expect(simJson(merged)).toEqual(simJson(await simulate(job)));
  }
});

test("each task is in exactly one shard", async () => {
  const plan = await planJob(jobOf(smallScenario(), { runs: 5 }));
  for (const count of [1, 3, 10, 11]) {
    const tasks = Array.from({ length: count }, (_, i) => tasksOf(plan, { index: i + 1, count }));
    expect(tasks.flat().sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  }
});

test("shards that are missing, doubled, unfinished, or of another simulation or version are refused", async () => {
  const scenario = smallScenario({ requests: 50 });
  const [one, two, three] = (await shardTexts(jobOf(scenario, { runs: 2 }), 3)) as [
    Text,
    Text,
    Text,
  ];
  const refusal = (texts: readonly Text[], version: string = VERSION): Promise<string> =>
    mergedReport(texts, version).then(
      () => "merged",
      (error: Error) => `${error.name}: ${error.message}`,
    );
  expect(await refusal([one, two, three])).toBe("merged");
  expect(await refusal([one, three])).toMatch(/CommandFailure: shards are missing: 2\/3/);
  expect(await refusal([one, two, { ...one, file: "copy.json" }, three])).toMatch(
    /copy\.json: shard 1\/3 is in 1\.json already/,
  );
  expect(await refusal([])).toMatch(/no shard/);
  expect(await refusal([one, two, three], "9.9.9")).toMatch(/made by version 0\.0\.0-test/);

  const other = async (job: SimJob, message: RegExp): Promise<void> => {
    const [, another] = (await shardTexts(job, 3)) as [Text, Text, Text];
    expect(await refusal([one, { ...another, file: "other.json" }, three])).toMatch(message);
  };
  await other(jobOf(scenario, { runs: 3 }), /another simulation than 1\.json: --runs differs/);
  await other(jobOf(scenario, { runs: 2, seed: 5 }), /--seed differs/);
  await other(jobOf(scenario, { runs: 2, sets: ["requests=50"] }), /--set differs/);
  await other(jobOf(smallScenario({ requests: 51 }), { runs: 2 }), /the scenario differs/);

  const [half] = (await shardTexts(jobOf(scenario, { runs: 2 }), 2)) as [Text];
  expect(await refusal([one, { ...half, file: "half.json" }])).toMatch(/one of 2 shards/);

  const edited = (change: (file: ShardFile) => object): Text => ({
    file: "edited.json",
    text: JSON.stringify(change(JSON.parse(two.text) as ShardFile)),
  });
  const withEdited = (change: (file: ShardFile) => object): Promise<string> =>
    refusal([one, edited(change), three]);
  expect(await withEdited((file) => ({ ...file, complete: false }))).toMatch(/was ended early/);
  expect(await withEdited((file) => ({ ...file, results: [] }))).toMatch(/damaged/);
  expect(await withEdited((file) => ({ ...file, results: [[0, {}]] }))).toMatch(/damaged/);
  expect(await withEdited((file) => ({ ...file, results: [[1, { a: 1 }]] }))).toMatch(/damaged/);
  expect(await withEdited((file) => ({ ...file, job: { ...file.job, seed: 9 } }))).toMatch(
    /edited\.json: its contents are damaged/,
  );
});

interface Text {
  readonly file: string;
  readonly text: string;
}

test("whatever a shard's file holds, it is read or refused, and nothing else is thrown", () => {
  const refuse = (text: string): void => {
    try {
      parseShardFile(text, "x.json");
    } catch (error) {
      expect((error as Error).name).toBe("CommandFailure");
    }
  };
  const head = { schema: "bobtail.sim-shard/1", version: "1", fingerprint: "f", complete: true };
  fc.assert(
    fc.property(fc.json(), fc.json(), fc.json(), (shard, job, results) => {
      refuse(shard);
      refuse(
        `${JSON.stringify(head).slice(0, -1)},"shard":${shard},"job":${job},"results":${results}}`,
      );
    }),
    { numRuns: 300, seed: 1 },
  );
  refuse('{"schema":"bobtail.sim-shard/1"');
});
