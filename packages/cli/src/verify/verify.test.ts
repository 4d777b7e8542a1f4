import { expect, test } from "vitest";
import { createPalette } from "../terminal/palette.ts";
import { groupChecks } from "./check-groups.ts";
import { type Check, checks } from "./checks.ts";
import { comingRows } from "./coming-rows.ts";
import { type Lane, runChecks, type Verdict } from "./run-checks.ts";
import { verifyJson, verifyText } from "./verify-report.ts";

const PLAIN = createPalette(false);

function lane(judge: (index: number) => Verdict): Lane & { closed: number } {
  return {
    closed: 0,
    run: async ({ indices, onVerdict }) => {
      for (const index of indices) onVerdict(judge(index));
    },
    async close() {
      this.closed++;
    },
  };
}

const passed = (index: number): Verdict => ({
  index,
  got: checks[index]?.expected ?? 0,
  holds: true,
  wallMs: 1,
});

function report(verdicts: readonly Verdict[], quick = false) {
  return { checks, verdicts, coming: comingRows, quick, wallMs: 1500 };
}

test("every row from 1 to 61 is checked, or said to come with the feature that it is about", () => {
  const rows = new Set([...checks, ...comingRows].map(({ row }) => row));
  expect([...rows].sort((a, b) => a - b)).toEqual(Array.from({ length: 61 }, (_, i) => i + 1));
  const ready = new Set(checks.map(({ row }) => row));
  expect(comingRows.filter(({ row }) => ready.has(row))).toEqual([]);
  expect(new Set(checks.map(({ id, by }) => `${by} ${id}`)).size).toBe(checks.length);
});

test("checks of a row stay together, each is run once, and slow rows begin first", () => {
  const groups = groupChecks(checks, { quick: false });
  const flat = groups.flat();
  expect([...flat].sort((a, b) => a - b)).toEqual(checks.map((_, i) => i));
  const slow = groups.map((group) => group.some((i) => checks[i]?.quickSlack === undefined));
  expect(slow.lastIndexOf(true)).toBeLessThan(slow.indexOf(false));
  for (const group of groups) {
    const keys = group.map((i) => {
      const { by, row } = checks[i] as Check;
      return by === "simulator" ? row : by;
    });
    expect(new Set(keys).size).toBe(1);
  }
});

test("a quick run leaves out what is too slow for it, and --only keeps the named rows alone", () => {
  const quick = groupChecks(checks, { quick: true }).flat();
  expect(quick.length).toBeLessThan(checks.length);
  expect(quick.every((i) => checks[i]?.quickSlack !== undefined)).toBe(true);
  const only = groupChecks(checks, { quick: false, only: [5, 36] }).flat();
  expect(new Set(only.map((i) => checks[i]?.row))).toEqual(new Set([5, 36]));
});

test("groups are shared out over the lanes, verdicts come back in order, lanes are closed", async () => {
  const lanes = [lane(passed), lane(passed)];
  const groups = [[4, 5], [0], [2, 3], [1]];
  const seen: number[] = [];
  const verdicts = await runChecks({
    groups,
    lanes,
    quick: false,
    onVerdict: ({ index }) => seen.push(index),
  });
  expect(verdicts.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(seen.sort()).toEqual([0, 1, 2, 3, 4, 5]);
  expect(lanes.map(({ closed }) => closed)).toEqual([1, 1]);
});

test("a lane that breaks fails the run, and every lane is closed", async () => {
  const lanes = [
    lane(() => {
      throw new Error("out of memory");
    }),
    lane(passed),
  ];
  await expect(runChecks({ groups: [[0], [1], [2]], lanes, quick: false })).rejects.toThrow(
    "out of memory",
  );
  expect(lanes.map(({ closed }) => closed)).toEqual([1, 1]);
});

test("a row that fails is in the table with its numbers, once more below it, and the JSON is not ok", () => {
  const failed: Verdict = { ...passed(0), got: 7.25, holds: false };
  const text = verifyText(report([failed, passed(1)]), PLAIN);
  expect(text.match(/7\.25.*FAIL/g)).toHaveLength(2);
  expect(text).toContain("1 passed, 1 failed");
  expect(text).toContain("comes with prequal");
  expect(verifyJson(report([failed, passed(1)]))).toMatchObject({
    schema: "bobtail.verify/1",
    ok: false,
    rows: [{ verdict: "fail", got: 7.25 }, { verdict: "pass" }],
  });
  expect(verifyJson(report([passed(1)]))).toMatchObject({ ok: true });
});

test("a value that is no number is a failure that JSON can carry", () => {
  const json = verifyJson(report([{ ...passed(0), got: Number.NaN, holds: false }]));
  expect(JSON.parse(JSON.stringify(json))).toMatchObject({ ok: false, rows: [{ got: null }] });
});

test("a quick run shows the tolerance that it applied", () => {
  const first = checks.findIndex(({ quickSlack }) => (quickSlack ?? 1) > 1);
  expect(verifyText(report([passed(first)], true), PLAIN)).toContain(
    `${checks[first]?.tolerance} x ${checks[first]?.quickSlack}`,
  );
});
