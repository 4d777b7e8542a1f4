import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createPalette } from "../terminal/palette.ts";
import { loadPolicy, parsePolicy } from "./load-policy.ts";
import { mistakes, TWO_ENDPOINTS, withService } from "./policy-text.testbed.ts";
import { formatProblems } from "./problem.ts";

const folder = mkdtempSync(join(tmpdir(), "bobtail-hostile-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The reasons for refusing a file of these bytes. */
function reasons(bytes: Uint8Array | string): string[] {
  const file = join(folder, "policy.yaml");
  writeFileSync(file, bytes);
  const reading = loadPolicy(file);
  return reading.ok ? [] : reading.problems.map((problem) => problem.reason);
}

test("aliases that multiply are refused before they are expanded", () => {
  const lines = ["x0: &x0 [1, 2, 3, 4, 5, 6, 7, 8, 9]"];
  for (let i = 1; i < 30; i++) {
    const uses = Array.from({ length: 3 }, () => `*x${i - 1}`).join(", ");
    lines.push(`x${i}: &x${i} [${uses}]`);
  }
  expect(mistakes(lines.join("\n"))[0]).toMatch(/^\d+:\d+ the aliases up to \*x\d+ expand to more/);
});

test("too many aliases, an alias of nothing and an alias inside its anchor are refused", () => {
  const uses = Array.from({ length: 500 }, () => "*a").join(", ");
  expect(mistakes(`a: &a 1\nb: [${uses}]`)).toEqual(["2:405 more than 100 aliases"]);
  expect(mistakes("a: *nothing")).toEqual(["1:4 no anchor &nothing before this alias"]);
  expect(mistakes("a: &a [*a]")).toEqual(["1:8 the alias *a stands inside its own anchor"]);
});

test.each([
  ["brackets", "[".repeat(1_000_000)],
  ["braces", "{a: ".repeat(200_000)],
  ["dashes", "- ".repeat(500_000)],
  ["question marks", "? ".repeat(500_000)],
  ["indentation", Array.from({ length: 1_400 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")],
])("deep nesting by %s is refused without following it", (_kind, text) => {
  const [first] = mistakes(text);
  expect(first).toMatch(/nested more than 32 levels deep$/);
});

test("a flood of tokens is refused", () => {
  expect(mistakes(`[${",".repeat(1_000_000)}`)[0]).toMatch(/more than 250000 tokens$/);
});

test("a second document, an old version and an empty file are refused", () => {
  expect(mistakes(`services: {}\n---\nservices: {}`)).toEqual([
    "2:1 a second document begins here",
  ]);
  expect(mistakes("%YAML 1.1\n---\na: 1")).toEqual(["1:1 only YAML 1.2 is read"]);
  for (const empty of ["", "\n\n", "# nothing\n", "---\n"]) {
    expect(mistakes(empty)).toEqual(["1:1 the file is empty"]);
  }
});

test("a tab as indentation is told at its place", () => {
  expect(mistakes("services:\n\ts: 1")).toEqual([
    "2:1 not valid YAML: Tabs are not allowed as indentation",
  ]);
});

test("a byte order mark and CRLF are harmless, and places stay right", () => {
  const text = withService(TWO_ENDPOINTS);
  expect(reasons(`\ufeff${text}`)).toEqual([]);
  expect(mistakes(text.replaceAll("\n", "\r\n"))).toEqual([]);
  expect(mistakes(`\ufeff${withService(TWO_ENDPOINTS, "x: 1")}`)).toEqual(['4:5 unknown key "x"']);
  expect(mistakes(withService(TWO_ENDPOINTS, "x: 1").replaceAll("\n", "\r\n"))).toEqual([
    '4:5 unknown key "x"',
  ]);
});

test("files that are no text are refused with the reason", () => {
  expect(reasons(Buffer.from("a: 1", "utf16le"))[0]).toMatch(/control character 0x00/);
  expect(reasons(Buffer.from("\ufeffa: 1", "utf16le"))).toEqual(["encoded as UTF-16"]);
  expect(reasons(Uint8Array.of(0x61, 0x3a, 0x20, 0xff, 0xfe, 0x31))).toEqual(["not valid UTF-8"]);
  expect(reasons(Uint8Array.of(0x7f, 0x45, 0x4c, 0x46))).toEqual([
    "control character 0x7f: this is not a text file",
  ]);
  expect(reasons(Buffer.alloc(1_048_577, "a"))).toEqual(["larger than 1 MiB"]);
});

test("a file that is not there, or is a directory, is refused with the reason", () => {
  const reason = (file: string) => {
    const reading = loadPolicy(file);
    return reading.ok ? "none" : reading.problems[0]?.reason;
  };
  expect(reason(join(folder, "missing.yaml"))).toBe("no such file");
  expect(reason(folder)).toBe("this is a directory");
});

test("text that could command a terminal is not repeated to it", () => {
  const reading = parsePolicy(
    'services: { s: { "\\e[31mred\\u009b": 1, endpoints: [http://h:1] } }',
  );
  const [problem] = reading.ok ? [] : reading.problems;
  expect(problem?.reason).toBe(String.raw`unknown key "\u001b[31mred\u009b"`);
});

test.each([
  ["endpoints", withService(`endpoints: [${"ftp://h, ".repeat(60_000)}]`)],
  ["unknown keys", withService(...Array.from({ length: 30_000 }, (_, i) => `unknown${i}: 1`))],
  ["equal keys", withService(...Array.from({ length: 30_000 }, () => "deadline: 1"))],
  ["slashes", `services: ${"/".repeat(1_000_000)}`],
  ["listeners", `listen: [${"{ address: :1, service: t }, ".repeat(15_000)}]\nservices: {}`],
  ["services", `services: {${Array.from({ length: 20_000 }, (_, i) => `s${i}: {}`).join(", ")}}`],
])("a file full of wrong %s is answered with a bounded report", (_kind, text) => {
  const reading = parsePolicy(text);
  const problems = reading.ok ? [] : reading.problems;
  expect(problems.length).toBeGreaterThan(0);
  expect(problems.length).toBeLessThanOrEqual(200);
  expect(formatProblems(problems, createPalette(false)).length).toBeLessThan(30_000);
});
