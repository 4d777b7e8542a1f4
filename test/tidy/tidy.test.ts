import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tracked = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => /\.(ts|mjs|json|md|yaml)$/.test(path) && path !== "package-lock.json");
const read = (path: string) => readFileSync(`${root}/${path}`, "utf8");
const library = tracked.filter((path) => path.startsWith("packages/bobtail/src/"));

/** Every place that breaks a rule, as `file:line: text`. */
function places(paths: readonly string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    read(path)
      .split("\n")
      .flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [])),
  );
}

test("the pure layers know no clock, no chance and no waiting", () => {
  const pure = library.filter(
    (path) => /src\/(core|policies|plan|sim)\//.test(path) && !path.endsWith(".test.ts"),
  );
  expect(pure.length).toBeGreaterThan(10);
  expect(
    places(pure, /\bDate\.|Math\.random|\bawait\b|\basync\b|setTimeout|performance\./),
  ).toEqual([]);
});

test("unit tests never sleep", () => {
  const unit = tracked.filter((path) => path.startsWith("packages/") && path.endsWith(".test.ts"));
  expect(unit.length).toBeGreaterThan(5);
  expect(places(unit, /\bsetTimeout\(|\bsetInterval\(|timers\/promises/)).toEqual([]);
});

test("durations, ratios and sizes carry their unit in the name of the option", () => {
  const options = tracked.filter((path) =>
    /packages\/.*\/([a-z-]*options|sender|fetch-transport-port|virtual-time|undici-interceptor)\.ts$/.test(
      path,
    ),
  );
  expect(options.length).toBeGreaterThan(5);
  const numbers = places(options, /^\s+readonly \w+\??: number/).filter(
    (place) =>
      !/(Ms|Ratio|Quantile|quantile|Count|PerSecond|Bytes|max|choices|cost|weight|Samples|outstanding|perEndpoint|pending|number|seed|seconds|factor|requests|workers|maxQueued|maxInFlight|connections|count|PerSec|port)\??: number/.test(
        place,
      ),
  );
  expect(numbers).toEqual([]);
});

test("every option says its default or its range", () => {
  const lines = read("packages/bobtail/src/policies/options.ts").split("\n");
  const bare = lines.filter(
    (line, i) =>
      /^ {2}readonly \w+\??:/.test(line) &&
      !/\*\/|\*/.test(lines[i - 1] ?? "") &&
      !/(balance|budget|retry|timeout|limit)\?:/.test(line),
  );
  expect(bare).toEqual([]);
});

test.each([
  ["core", ["policies", "plan", "sim", "transports"]],
  ["policies", ["plan", "sim", "transports"]],
  ["plan", ["policies", "sim", "transports"]],
  ["sim", ["transports"]],
  ["transports", ["plan", "sim"]],
])("nothing is imported upwards: %s knows none of %j", (layer, above) => {
  const files = library.filter((path) => path.includes(`src/${layer}/`));
  expect(files.length).toBeGreaterThan(5);
  expect(places(files, new RegExp(`from "(\\.\\./)+(${above.join("|")})/`))).toEqual([]);
  const own = files.filter((path) => !/\.test\.ts|testbed/.test(path) && layer !== "transports");
  expect(places(own, /from "node:/)).toEqual([]);
});

test("the command uses the library through its published doors only", () => {
  const cli = tracked.filter((path) => path.startsWith("packages/cli/src/"));
  expect(places(cli, /from "(\.\.\/)+bobtail\/|from "bobtail\/(src|dist)/)).toEqual([]);
});

test("what only tests use is not published", () => {
  const manifests = ["packages/bobtail/package.json", "packages/cli/package.json"];
  for (const path of manifests)
    expect(JSON.parse(read(path)).files).toContain("!dist/**/*.testbed.*");
  const outside = tracked.filter(
    (path) => /\/testbed\.ts$/.test(path) && path.startsWith("packages/"),
  );
  expect(outside).toEqual([]);
});

test("the lockfile names no registry host", () => {
  expect(read("package-lock.json")).not.toMatch(/"resolved": *"http/);
});
