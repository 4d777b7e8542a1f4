import fc from "fast-check";
import { expect, test } from "vitest";
import { createPalette } from "../terminal/palette.ts";
import { parsePolicy } from "./load-policy.ts";
import { formatProblems } from "./problem.ts";
import { starterPolicy } from "./starter-policy.ts";

/** Whatever the text, the answer is a policy or problems that lie inside it and can be printed. */
function checkReading(text: string): void {
  const reading = parsePolicy(text);
  if (reading.ok) return;
  expect(reading.problems.length).toBeGreaterThan(0);
  // A byte order mark is not part of the text that is read.
  const lines = text.replace(/^\ufeff/, "").split("\n");
  for (const problem of reading.problems) {
    expect(problem.line).toBeGreaterThanOrEqual(1);
    expect(problem.line).toBeLessThanOrEqual(lines.length);
    expect(problem.column).toBeGreaterThanOrEqual(1);
    expect(problem.column).toBeLessThanOrEqual((lines[problem.line - 1] ?? "").length + 1);
    expect(problem.reason).not.toBe("");
    expect(problem.caret.start).toBeLessThanOrEqual(problem.excerpt.length);
  }
  const report = formatProblems(reading.problems, createPalette(false));
  expect(report.length).toBeLessThan(200_000);
}

const WORDS = [
  ..."[]{}:,-?&*!|>'\"%@`#\\ \n\t",
  ...["- ", ": ", "\n  ", "\n    ", "<<", "*a", "&a ", "!!str ", "---\n", "...\n", "%YAML 1.1\n"],
  ...[
    "null",
    "true",
    ".inf",
    ".nan",
    "-1",
    "0x1f",
    "1e999",
    "__proto__",
    "constructor",
    "toString",
  ],
  ...["services", "endpoints", "hedge", "listen", "address", "routes", "auto", "5%", "12ms"],
  ...["http://a:b@h", "http://h:1", "\u0000", "\ufeff", "\ud800", "\u2028", "😀", "\r"],
];

test("random words never cause anything but problems at their places", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...WORDS), { maxLength: 60 }), (words) =>
      checkReading(words.join("")),
    ),
    { numRuns: 1000, seed: 1 },
  );
});

test("random text never causes anything but problems at their places", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 300 }), checkReading), {
    numRuns: 500,
    seed: 2,
  });
});

const VALID = starterPolicy(["http://a:1", "https://b:2"]).replace(/^\s*#.*\n/gm, "");
const edit = fc.record({
  at: fc.nat(VALID.length),
  remove: fc.nat(8),
  insert: fc.oneof(fc.constantFrom(...WORDS), fc.constant("")),
});

test("a valid file with random edits never causes anything but problems at their places", () => {
  let refused = 0;
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), (edits) => {
      let text = VALID;
      for (const { at, remove, insert } of edits) {
        text = text.slice(0, at) + insert + text.slice(at + remove);
      }
      checkReading(text);
      if (!parsePolicy(text).ok) refused++;
    }),
    { numRuns: 1000, seed: 3 },
  );
  // Or the edits would have missed the point.
  expect(refused).toBeGreaterThan(500);
});

test("random data of the right outline never causes anything but problems at their places", () => {
  const leaf = fc.oneof(
    fc.constantFrom("auto", "p97", "5%", "12ms", "http://h:1", ""),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.double(),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(
        fc.constantFrom(
          "services",
          "s",
          "endpoints",
          "url",
          "weight",
          "virtual",
          "hedge",
          "after",
          "floor",
          "budget",
          "extra",
          "listen",
          "address",
          "service",
          "routes",
          "tls",
          "ca",
          "retry",
          "on",
          "toString",
          "__proto__",
        ),
        tie("tree"),
        { maxKeys: 6 },
      ),
    ),
  }));
  fc.assert(
    fc.property(tree, tree, (service, listen) =>
      checkReading(JSON.stringify({ services: { s: service, t: listen }, listen })),
    ),
    { numRuns: 500, seed: 4 },
  );
});
