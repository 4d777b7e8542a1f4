// What users will install: each package's exports, types and files, checked on the packed tarball.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = (name) => join(root, "node_modules", ".bin", name);
const out = mkdtempSync(join(tmpdir(), "bobtail-pack-"));
let passed = 0;
let failed = 0;

// What an older build left in dist must not be packed.
for (const step of [["scripts/clean.mjs"], ["node_modules/typescript/bin/tsc", "-b"]]) {
  const { status } = spawnSync(process.execPath, step, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(1);
}

try {
  for (const name of ["bobtail", "cli"]) {
    const folder = join(root, "packages", name);
    check(`${name}: publint`, bin("publint"), ["--strict", folder]);
    const packed = spawnSync("npm", ["pack", "--json", "--pack-destination", out], {
      cwd: folder,
      encoding: "utf8",
    });
    if (packed.status !== 0) {
      report(`${name}: npm pack`, false, packed.stderr);
      continue;
    }
    const [{ filename, size, files }] = JSON.parse(packed.stdout);
    report(`${name}: tarball under 2 MB (${Math.round(size / 1024)} KiB)`, size < 2_000_000);
    const stray = files
      .filter((f) => /\.test\.|testbed|tsbuildinfo|\.map$/.test(f.path))
      .map((f) => f.path);
    report(
      `${name}: no test or build leftovers in the tarball`,
      stray.length === 0,
      stray.join("\n"),
    );
    if (name === "bobtail")
      check(`${name}: types resolve`, bin("attw"), [join(out, filename), "--profile", "esm-only"]);
  }
} finally {
  rmSync(out, { recursive: true, force: true });
}
console.log(`packages: ${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function check(title, command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  report(title, status === 0, error?.message ?? `${stdout}\n${stderr}`);
}

function report(title, ok, detail = "") {
  if (ok) passed++;
  else failed++;
  console.log(`${ok ? "ok" : "FAILED"}  ${title}${ok || detail === "" ? "" : `\n${detail}`}`);
}
