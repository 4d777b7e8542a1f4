import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const library = fileURLToPath(new URL("../../packages/bobtail", import.meta.url));
const manifest = JSON.parse(readFileSync(join(library, "package.json"), "utf8"));
const doors = Object.keys(manifest.exports).map((door) => door.replace(/^\./, "bobtail"));
let project = "";

/** A project of a user's: the packed library, and nothing else. */
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "bobtail-user-"));
  const [{ filename }] = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--pack-destination", project], {
      cwd: library,
      encoding: "utf8",
    }),
  );
  const home = join(project, "node_modules", "bobtail");
  mkdirSync(home, { recursive: true });
  execFileSync("tar", ["-xzf", join(project, filename), "-C", home, "--strip-components=1"]);
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

function run(code: string, ...flags: string[]): string {
  return execFileSync(process.execPath, [...flags, "-e", code], { cwd: project, encoding: "utf8" });
}

test("the library has no dependencies", () => {
  expect(manifest.dependencies).toEqual({});
});

test("every door opens from the packed tarball, and those that need no undici open without it", () => {
  for (const door of doors.filter((name) => name !== "bobtail/undici")) {
    const names = run(
      `import(${JSON.stringify(door)}).then((m) => console.log(Object.keys(m).length))`,
    );
    expect([door, Number(names) > 0]).toEqual([door, true]);
  }
  expect(() =>
    run('import("bobtail/undici").catch((e) => { console.log(e.code); process.exit(7); })'),
  ).toThrow();
});

test("a call runs from the packed tarball, and the process ends by itself", () => {
  const code = `import("bobtail").then(async ({ createClient }) => {
    const client = createClient({ endpoints: [{ name: "a", target: 20 }, { name: "b", target: 20 }], hedge: { afterMs: 5 } });
    console.log(await client.call((n) => n + 22, { idempotent: true }));
  })`;
  expect(run(code).trim()).toBe("42");
});

test("require() of the library works where Node can require ES modules", () => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const flags =
    major > 22 || (major === 22 && minor >= 12) || major === 20
      ? []
      : ["--experimental-require-module"];
  expect(
    run(
      "console.log(typeof require('bobtail').createClient)",
      "--input-type=commonjs",
      ...flags,
    ).trim(),
  ).toBe("function");
});
