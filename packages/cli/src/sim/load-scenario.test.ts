import { scenarios } from "bobtail/sim";
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatProblems } from "../policy-file/problem.ts";
import { createPalette } from "../terminal/palette.ts";
import { loadScenario, parseScenario } from "./load-scenario.ts";
import { smallScenario } from "./scenario.testbed.ts";

const VALID = `# Two servers, two policies.
servers:
  - { count: 9, workers: 4 }
  - workers: 4
    slowdown: 5
size: { kind: exponential, meanMs: 10 }
arrivals:
  kind: poisson
  load: 0.7
requests: 2000
policies:
  round robin: { balance: { policy: round-robin } }
  hedged v1.2:
    hedge: { afterMs: 60 }
    budget: { extraRatio: 0.05 }
`;

const problemsOf = (text: string): readonly string[] => {
  const reading = parseScenario(text, "w.yaml");
  if (reading.ok) return [];
  return reading.problems.map((p) => `${p.line}:${p.column} ${p.reason} | ${p.remedy}`);
};

test("YAML and JSON of the same data are the same scenario", () => {
  expect(problemsOf(VALID)).toEqual([]);
  const data = smallScenario();
  const reading = parseScenario(JSON.stringify(data));
  expect(reading.ok && JSON.parse(JSON.stringify(reading.scenario))).toEqual(data);
});

test("a mistake is told with line and column, reason, remedy and the nearest key", () => {
  expect(problemsOf(VALID.replace("slowdown", "slowdwn"))).toEqual([
    "5:5 servers[1].slowdwn is not known here | Did you mean slowdown?",
  ]);
  expect(problemsOf(VALID.replace("workers: 4 }", "workers: many }"))).toEqual([
    '3:26 servers[0].workers is "many" | Give a whole number of at least 1 and at most 100000, or give one of unlimited.',
  ]);
  expect(problemsOf(VALID.replace("  kind: poisson\n", ""))).toEqual([
    expect.stringMatching(/^7:1 arrivals\.kind is undefined|^7:1 arrivals\.kind is missing/),
  ]);
});

test("every mistake is told at once, in the order of the file", () => {
  const text = VALID.replace("count: 9", "count: 0")
    .replace("meanMs: 10", "meanMs: -1")
    .replace("afterMs: 60", "aftrMs: 60")
    .replace("requests: 2000\n", "");
  const lines = problemsOf(text).map((problem) => problem.split(" ").slice(0, 2).join(" "));
  expect(lines).toEqual(
    [
      "2:1 requests",
      "3:14 servers[0].count",
      "6:36 size.meanMs",
      "13:5 policies.hedged",
      expect.stringMatching(/^12:|^13:|^14:/),
    ].slice(0, lines.length),
  );
  expect(lines.length).toBeGreaterThanOrEqual(4);
});

test("a policy whose name has dots and blanks is found at its place", () => {
  const [problem] = problemsOf(VALID.replace("extraRatio: 0.05", "extraRatio: 7"));
  expect(problem).toMatch(/^15:\d+ policies\.hedged v1\.2\.budget\.extraRatio/);
});

test("a trace that is not in order is pointed at", () => {
  const text = VALID.replace("kind: poisson\n  load: 0.7", "kind: trace\n  atMs: [1, 5, 3]");
  expect(problemsOf(text)).toEqual([
    "9:16 arrivals.atMs[2] comes before the one ahead of it | Sort the trace by time.",
  ]);
});

test("a file that is not there, not text, or not YAML is a problem and nothing is thrown", () => {
  const reading = loadScenario("/no/such/file.yaml");
  expect(!reading.ok && reading.problems[0]).toMatchObject({ reason: "no such file" });
  expect(!reading.ok && reading.problems[0]?.remedy).not.toMatch(/policy|init/);
  expect(problemsOf("servers: [")[0]).toMatch(/^1:\d+ not valid YAML/);
  expect(problemsOf("")[0]).toMatch(/the file is empty/);
  expect(problemsOf("")[0]).not.toMatch(/bobtail init/);
  expect(problemsOf("5")[0]).toMatch(/^1:1 /);
});

/** Whatever the text, the answer is a scenario or problems that lie inside it and can be printed. */
function checkReading(text: string): boolean {
  const reading = parseScenario(text);
  if (reading.ok) return true;
  expect(reading.problems.length).toBeGreaterThan(0);
  const lines = text.replace(/^\ufeff/, "").split("\n");
  for (const problem of reading.problems) {
    expect(problem.line).toBeGreaterThanOrEqual(1);
    expect(problem.line).toBeLessThanOrEqual(lines.length);
    expect(problem.column).toBeLessThanOrEqual((lines[problem.line - 1] ?? "").length + 1);
    expect(problem.reason).not.toBe("");
  }
  expect(formatProblems(reading.problems, createPalette(false)).length).toBeLessThan(200_000);
  return false;
}

const WORDS = [
  ..."[]{}:,-&*\"' \n",
  ...["- ", ": ", "\n  ", "null", "true", ".inf", ".nan", "-1", "0", "1e999", "1e9", "__proto__"],
  ...["servers", "kind", "poisson", "trace", "atMs", "mixture", "parts", "share", "law", "hedge"],
  ...[
    "policy",
    "policies",
    "balance",
    "auto",
    "quantile",
    "12ms",
    "5%",
    "\u0000",
    "\ud800",
    "toString",
  ],
];

test("a valid file with random edits never causes anything but problems at their places", () => {
  let refused = 0;
  const edit = fc.record({
    at: fc.nat(VALID.length),
    remove: fc.nat(8),
    insert: fc.oneof(fc.constantFrom(...WORDS), fc.constant("")),
  });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), (edits) => {
      let text = VALID;
      for (const { at, remove, insert } of edits)
        text = text.slice(0, at) + insert + text.slice(at + remove);
      if (!checkReading(text)) refused++;
    }),
    { numRuns: 600, seed: 1 },
  );
  // Or the edits would have missed the point.
  expect(refused).toBeGreaterThan(300);
});

test("random data of the right outline never causes anything but problems at their places", () => {
  const leaf = fc.oneof(
    fc.constantFrom("auto", "exponential", "mixture", "trace", "poisson", "least", "", "unlimited"),
    fc.integer(),
    fc.constantFrom(0, 1, 2, 0.5, 1e9, -0),
    fc.boolean(),
    fc.constant(null),
  );
  const keys = [
    ...["kind", "meanMs", "valuesMs", "parts", "law", "share", "stall", "shape", "scaleMs"],
    ...[
      "load",
      "ratePerSecond",
      "steps",
      "atMs",
      "sizeMs",
      "count",
      "workers",
      "faults",
      "everyMs",
    ],
    ...["balance", "policy", "choices", "hedge", "afterMs", "quantile", "budget", "extraRatio"],
    ...[
      "retry",
      "on",
      "max",
      "limit",
      "pending",
      "timeout",
      "deadlineMs",
      "toString",
      "constructor",
    ],
  ];
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys), tie("tree"), { maxKeys: 5 }),
    ),
  }));
  const field = fc.constantFrom(
    ...["servers", "size", "arrivals", "policy", "policies", "classes", "shock", "network"],
    ...["reports", "chores", "requests", "runs", "seed", "shards", "clients", "leaves"],
  );
  fc.assert(
    fc.property(fc.dictionary(field, tree, { maxKeys: 4 }), (changed) => {
      checkReading(JSON.stringify({ ...smallScenario(), ...changed }));
    }),
    { numRuns: 1500, seed: 2 },
  );
});

test("every policy value of a wrong kind is a problem, never a crash of the check", () => {
  const values = [null, 0, -1, 1.5, "x", true, [], {}, [1], { a: 1 }, 1e300];
  const fields = [
    ...["balance", "balance.policy", "balance.load", "balance.choices", "balance.errorPenalty"],
    ...["hedge", "hedge.afterMs", "hedge.max", "hedge.minSamples", "hedge.afterMs.quantile"],
    ...["budget", "budget.extraRatio", "budget.burstCount", "retry", "retry.max", "retry.on"],
    ...["limit.outstanding", "limit.perEndpoint", "limit.pending", "limit.replayBodyBytes"],
  ];
  for (const field of fields) {
    for (const value of values) {
      const policy = field
        .split(".")
        .reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
      const { policies: _, ...rest } = smallScenario();
      checkReading(JSON.stringify({ ...rest, policy }));
    }
  }
});

test("built-in scenarios have names that no file is likely to have", () => {
  for (const { name } of scenarios) expect(name).toMatch(/^[a-z0-9-]+$/);
});
